//? mode=history
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
//? end
//? mode=session
import { Agent, OpenAIProvider, Runner, RunState, tool } from '@openai/agents';
//? end

//? mode=history
/** The application: the input of the next run is the history of the result plus the user's message. */
//? end
//? mode=session
/** The application: the SDK keeps the thread in a session, and a stopped run continues from its state. */
//? end
function application(url, tools) {
  const modelProvider = new OpenAIProvider({
    apiKey: 'test',
    baseURL: `${url}/v1`,
    //? dialect=openai-responses
    useResponses: true,
    //? end
    //? dialect=openai-chat
    useResponses: false,
    //? end
  });
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  const agent = new Agent({
    name: 'agent',
    model: '{{model}}',
    tools: tools.map(({ name, description, inputSchema, run }) => tool({
      name,
      description,
      parameters: inputSchema,
      strict: false,
      execute: (input, _context, details) => run(input, details?.signal),
    })),
  });
  //? mode=history
  let items = [];
  return {
    async turn(text, signal) {
      items = [...items, { role: 'user', content: text }];
      let result;
      try {
        result = await runner.run(agent, items, { stream: true, signal, maxTurns: 20 });
        for await (const _ of result);
        await result.completed;
      } finally {
        if (result) items = result.history;
      }
    },
  };
  //? end
  //? mode=session
  let items = [];
  const session = {
    getSessionId: async () => 'thread',
    getItems: async (limit) => (limit === undefined ? items : items.slice(-limit)),
    addItems: async (more) => { items = [...items, ...more]; },
    popItem: async () => items.pop(),
    clearSession: async () => { items = []; },
  };
  let stopped;
  return {
    async turn(text, signal) {
      let input = text;
      if (stopped) {
        input = await RunState.fromString(agent, stopped);
        input.addInput(text);
        stopped = undefined;
      }
      const result = await runner.run(agent, input, { stream: true, signal, maxTurns: 20, session });
      try {
        for await (const _ of result);
        await result.completed;
      } finally {
        if (result.cancelled) stopped = result.state.toString();
      }
    },
  };
  //? end
}
