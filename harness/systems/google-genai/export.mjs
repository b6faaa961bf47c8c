import { GoogleGenAI } from '@google/genai';

//? mode=automatic|automatic-streamed
/** The application: a chat in which the SDK runs the tools. Its history is kept between turns. */
//? end
//? mode=manual|manual-streamed
/** The application: a chat. The tools of a reply run in parallel, and their results are the next message. */
//? end
function application(url, tools) {
  const ai = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: url } });
  const functionDeclarations = tools.map(({ name, description, inputSchema: parametersJsonSchema }) =>
    ({ name, description, parametersJsonSchema }));
  /** Runs a call and returns its response. Throws after a stop. */
  const responseOf = async ({ id, name, args }, signal) => {
    const response = (what) => ({ functionResponse: { id, name, response: what } });
    const tool = tools.find((one) => one.name === name);
    if (!tool) return response({ error: `there is no tool ${name}` });
    try {
      return response({ output: await tool.run(args, signal) });
    } catch (error) {
      if (signal.aborted) throw error;
      return response({ error: error.message });
    }
  };
  let history = [];
  return {
    async turn(text, signal) {
      const before = history;
      const chat = ai.chats.create({
        model: '{{model}}',
        history,
        config: {
          abortSignal: signal,
          //? mode=automatic|automatic-streamed
          tools: [{
            tool: async () => ({ functionDeclarations }),
            callTool: (calls) => Promise.all(calls.map((call) => responseOf(call, signal))),
          }],
          automaticFunctionCalling: { maximumRemoteCalls: 20 },
          //? end
          //? mode=manual|manual-streamed
          tools: [{ functionDeclarations }],
          //? end
        },
      });
      // The chat records a message when its reply arrives.
      history = [...before, { role: 'user', parts: [{ text }] }];
      try {
        //? mode=automatic
        await chat.sendMessage({ message: text });
        //? end
        //? mode=automatic-streamed
        for await (const _ of await chat.sendMessageStream({ message: text }));
        //? end
        //? mode=manual
        let message = text;
        while (message) {
          const { functionCalls: calls = [] } = await chat.sendMessage({ message });
          message = calls.length > 0 && (await Promise.all(calls.map((call) => responseOf(call, signal))));
        }
        //? end
        //? mode=manual-streamed
        let message = text;
        while (message) {
          const calls = [];
          for await (const piece of await chat.sendMessageStream({ message })) calls.push(...(piece.functionCalls ?? []));
          message = calls.length > 0 && (await Promise.all(calls.map((call) => responseOf(call, signal))));
        }
        //? end
      } finally {
        const said = chat.getHistory();
        if (said.length > before.length) history = said;
      }
    },
  };
}
