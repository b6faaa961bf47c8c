import { GoogleGenAI } from '@google/genai';

//? mode=automatic|automatic-streamed
/** The application: a chat whose SDK has the tools run; its history is kept from turn to turn. */
//? end
//? mode=manual|manual-streamed
/** The application: a chat; the tools of a reply run at once, and their results are the next message. */
//? end
function application(url, tools) {
  const ai = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: url } });
  const functionDeclarations = tools.map(({ name, description, inputSchema: parametersJsonSchema }) =>
    ({ name, description, parametersJsonSchema }));
  /** What came of a call. After a stop there is nothing. */
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
      // The chat records what it sends when the reply is there.
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
