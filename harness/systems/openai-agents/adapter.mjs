// Lets Brickbat drive the OpenAI Agents SDK: a streamed run() for each turn, with the history or a session between them.
import { readFileSync } from 'node:fs';
import { Agent, Handoff, OpenAIProvider, Runner, RunState, tool } from '@openai/agents';
import { given } from './given.mjs';
import { gate, saving, serve, upTo } from 'brickbat-adapter';

// The package does not export its package.json.
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.resolve('@openai/agents'))));
const DIALECTS = {
  'openai-responses': { useResponses: true, model: 'gpt-5' },
  'openai-chat': { useResponses: false, model: 'gpt-4.1' },
};
// More steps than any scenario has. The SDK's default is 10.
const MAX_STEPS = 20;

const gated = (given) => tool({
  name: given.name,
  description: given.description,
  parameters: { additionalProperties: true, required: [], properties: {}, ...given.inputSchema },
  strict: false,
  execute: (input, _context, details) => gate(given, input, details?.signal),
});

/** The first agent of a conversation. */
const FIRST = 'agent';

const plainOf = (tools) => tools.filter(({ handsOver }) => !handsOver);

/**
 * The agents of a session by name: the first, and one for each handoff tool. All have the same tools.
 */
const agentsOf = ({ tools, model, dialect }) => {
  const plain = plainOf(tools);
  const stopAtToolNames = plain.filter(({ ends }) => ends).map(({ name }) => name);
  const agent = (name) => new Agent({
    name,
    model: model ?? DIALECTS[dialect].model,
    tools: plain.map(gated),
    ...(name !== FIRST && { instructions: `You are ${name}.` }),
    ...(stopAtToolNames.length && { toolUseBehavior: { stopAtToolNames } }),
  });
  const handoffs = tools.filter(({ handsOver }) => handsOver);
  const agents = Object.fromEntries([FIRST, ...handoffs.map(({ handsOver }) => handsOver)].map((name) => [name, agent(name)]));
  const handed = (given) => {
    const handoff = new Handoff(agents[given.handsOver], async (_context, input) => {
      await gate(given, JSON.parse(input));
      return agents[given.handsOver];
    });
    const { name: toolName, description: toolDescription, inputSchema: inputJsonSchema } = given;
    return Object.assign(handoff, { toolName, toolDescription, inputJsonSchema, strictJsonSchema: false });
  };
  for (const each of Object.values(agents)) each.handoffs = handoffs.map(handed);
  return agents;
};

/** The stored session: its items, the agent that continues, and the stopped run if it can continue. */
const kept = (store) => store.load({ items: [] });

/** True for a user message, a call or a result. */
const isEntry = ({ role, type }) => role === 'user' || type === 'function_call' || type === 'function_call_result';

/** The five methods of the SDK's `Session`, which its documentation requires of a custom store. */
const sessionOf = ({ id, spec, store }) => {
  const write = (items) => store.save({ ...kept(store), items });
  return {
    getSessionId: async () => id,
    getItems: async (limit) => limit === undefined ? kept(store).items : kept(store).items.slice(-limit),
    addItems: (items) => saving(spec, items.filter(isEntry).length,
      async (keep) => write([...kept(store).items, ...upTo(items, isEntry, keep)])),
    async popItem() {
      const { items } = kept(store);
      const last = items.pop();
      write(items);
      return last;
    },
    clearSession: async () => write([]),
  };
};

const MODES = {
  /** The user's message is stored at once, and `result.history` after each complete step and at the end of the run. */
  history: {
    async begin({ store }, text) {
      const items = [...kept(store).items, { role: 'user', content: text }];
      store.save({ ...kept(store), items });
      return { input: items, options: {} };
    },
    keep: ({ store }, { history }) => store.save({ ...kept(store), items: history }),
    end() {},
  },
  /**
   * The SDK reads and writes its session itself. A stopped turn is incomplete, so it is not in the session: the run
   * continues from its state, as the guide on results recommends, and the user's message is added to it.
   */
  session: {
    async begin(session, text, agents) {
      const options = { session: sessionOf(session) };
      const { stopped, ...rest } = kept(session.store);
      if (!stopped) return { input: text, options };
      session.store.save(rest);
      // The SDK finds the other agents through the one that the run began with.
      const state = await RunState.fromString(agents[stopped.begun], stopped.state);
      state.addInput(text);
      return { input: state, options, begun: stopped.begun };
    },
    keep() {},
    end({ store }, { state, history }, begun) {
      store.save({ ...kept(store), stopped: { begun, state: state.toString(), history } });
    },
  },
  /**
   * OpenAI keeps the messages, and a run continues from the last response before it: "use `previousResponseId` to continue
   * from the last response" (guide on running agents). A stopped run continues from its state.
   */
  'response-id': {
    async begin({ store }, text, agents) {
      const { stopped, ...rest } = kept(store);
      if (!stopped) return { input: text, options: rest.response ? { previousResponseId: rest.response } : {} };
      store.save(rest);
      const state = await RunState.fromString(agents[stopped.begun], stopped.state);
      state.addInput(text);
      return { input: state, options: {}, begun: stopped.begun };
    },
    keep() {},
    /** A failed run has no result to take the id from. */
    returned({ store }, { lastResponseId }) {
      store.save({ ...kept(store), response: lastResponseId });
    },
    end({ store }, { state }, begun) {
      store.save({ ...kept(store), stopped: { begun, state: state.toString() } });
    },
  },
};

/** True if every call of a history has its output. */
const isComplete = (history) => {
  const callIds = (kind) => history.filter(({ type }) => type === kind).map(({ callId }) => callId);
  const answered = new Set(callIds('function_call_result'));
  return callIds('function_call').every((id) => answered.has(id));
};

/** @type {import('brickbat-adapter').Turn} */
async function turn(session, text, signal, show) {
  const { spec } = session;
  const { begin, keep, end, returned } = MODES[spec.mode];
  const { useResponses } = DIALECTS[spec.dialect];
  const modelProvider = new OpenAIProvider({ apiKey: 'test', baseURL: `${spec.baseUrl}/v1`, useResponses });
  // Tracing would send requests to the provider.
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  // "You can store the last agent, and reuse it the next time the user messages the agent" (guide on results).
  let begun = kept(session.store).agent ?? FIRST;
  const agents = session.agents = agentsOf(spec);
  let result;
  try {
    const { input, options, ...rest } = await begin(session, text, agents);
    begun = rest.begun ?? begun;
    result = await runner.run(agents[begun], input, { stream: true, signal, maxTurns: MAX_STEPS, ...options });
    for await (const { name, item } of result) {
      if (name !== 'tool_output' && name !== 'handoff_occurred') continue;
      // The SDK reports no state for a running call.
      show(item.rawItem.callId, 'completed', item.rawItem.name);
      if (isComplete(result.history)) keep(session, result);
    }
    // The guide awaits this even after a stop: the results of a batch are complete only when all of its calls have ended.
    await result.completed;
    if (!result.cancelled) returned?.(session, result);
  } catch (raised) {
    return { raised };
  } finally {
    // Even for a failed run, the result has the history up to the failure.
    if (result) keep(session, result);
    if (result?.lastAgent) session.store.save({ ...kept(session.store), agent: result.lastAgent.name });
    if (result?.cancelled) end(session, result, begun);
  }
  return { cancelled: result.cancelled };
}

const give = (history) => ({ items: given(history) });
const stored = ({ store }) => {
  const { items, stopped } = kept(store);
  return stopped?.history ?? items;
};
serve({ sdk: '@openai/agents', version, modes: Object.keys(MODES) }, Object.keys(DIALECTS), turn,
  {
    give,
    stored,
    // "tools" is a property of an agent, which a run reads for each of its steps.
    tools: ({ agents, spec }) => { for (const agent of Object.values(agents ?? {})) agent.tools = plainOf(spec.tools).map(gated); },
    capabilities: {
      givenOrphans: true, givenRawArguments: true, finalTools: true, handoffs: true, saving: true, failingWrites: true,
      changes: { provider: true, tools: true, toolsInTurn: true },
    },
  });
