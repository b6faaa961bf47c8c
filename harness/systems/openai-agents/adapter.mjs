// Lets Brickbat drive the OpenAI Agents SDK: a streamed run() for each turn, with the history or a session between them.
import { readFileSync } from 'node:fs';
import { Agent, OpenAIProvider, Runner, RunState, tool } from '@openai/agents';
import { given } from './given.mjs';
import { gate, serve } from 'brickbat-adapter';

// The package does not export its package.json.
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.resolve('@openai/agents'))));
const DIALECTS = {
  'openai-responses': { useResponses: true, model: 'gpt-5' },
  'openai-chat': { useResponses: false, model: 'gpt-4.1' },
};
// More steps than any scenario has; the SDK's own default is 10.
const MAX_STEPS = 20;

const gated = (given) => tool({
  name: given.name,
  description: given.description,
  parameters: { additionalProperties: true, required: [], properties: {}, ...given.inputSchema },
  strict: false,
  execute: (input, _context, details) => gate(given, input, details?.signal),
});

/** What is stored of a session: the items that the SDK has written, and the run that was stopped, if it can go on. */
const kept = (store) => store.load({ items: [] });

/** The five methods of the SDK's `Session`, as its documentation asks of a store of one's own. */
const sessionOf = ({ id, store }) => {
  const write = (items) => store.save({ ...kept(store), items });
  return {
    getSessionId: async () => id,
    getItems: async (limit) => limit === undefined ? kept(store).items : kept(store).items.slice(-limit),
    addItems: async (items) => write([...kept(store).items, ...items]),
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
  /** What the user says is stored at once, and `result.history` when a step is whole and when the run is over. */
  history: {
    async begin({ store }, text) {
      const items = [...store.load([]), { role: 'user', content: text }];
      store.save(items);
      return { input: items, options: {} };
    },
    keep: ({ store }, { history }) => store.save(history),
    end() {},
  },
  /**
   * The SDK reads and writes its session itself. A turn that was stopped is no whole turn, so it is not in the session:
   * the run goes on from its state, as the guide on results asks, and what the user says is added to it.
   */
  session: {
    async begin(session, text, agent) {
      const options = { session: sessionOf(session) };
      const { items, stopped } = kept(session.store);
      if (!stopped) return { input: text, options };
      session.store.save({ items });
      const state = await RunState.fromString(agent, stopped.state);
      state.addInput(text);
      return { input: state, options };
    },
    keep() {},
    end({ store }, { state, history }) {
      store.save({ items: kept(store).items, stopped: { state: state.toString(), history } });
    },
  },
  /**
   * OpenAI keeps what is said, and a run goes on from the last response of the one before: "use `previousResponseId` to
   * continue from the last response" (guide on running agents). A run that was stopped goes on from its state.
   */
  'response-id': {
    async begin({ store }, text, agent) {
      const { response, stopped } = store.load({});
      if (!stopped) return { input: text, options: response ? { previousResponseId: response } : {} };
      store.save({ response });
      const state = await RunState.fromString(agent, stopped);
      state.addInput(text);
      return { input: state, options: {} };
    },
    keep() {},
    /** A run that failed has no result from which an application could take the id. */
    returned({ store }, { lastResponseId }) {
      store.save({ response: lastResponseId });
    },
    end({ store }, { state }) {
      store.save({ ...store.load({}), stopped: state.toString() });
    },
  },
};

/** Whether every call of a history has its output. */
const isWhole = (history) => {
  const callIds = (kind) => history.filter(({ type }) => type === kind).map(({ callId }) => callId);
  const answered = new Set(callIds('function_call_result'));
  return callIds('function_call').every((id) => answered.has(id));
};

/** @type {import('brickbat-adapter').Turn} */
async function turn(session, text, signal, show) {
  const { spec } = session;
  const { begin, keep, end, returned } = MODES[spec.mode];
  const { useResponses, model } = DIALECTS[spec.dialect];
  const modelProvider = new OpenAIProvider({ apiKey: 'test', baseURL: `${spec.baseUrl}/v1`, useResponses });
  // Traces would go to the provider.
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  const stopAtToolNames = spec.tools.filter(({ ends }) => ends).map(({ name }) => name);
  const agent = new Agent({
    name: 'agent',
    model: spec.model ?? model,
    tools: spec.tools.map(gated),
    ...(stopAtToolNames.length && { toolUseBehavior: { stopAtToolNames } }),
  });
  let result;
  try {
    const { input, options } = await begin(session, text, agent);
    result = await runner.run(agent, input, { stream: true, signal, maxTurns: MAX_STEPS, ...options });
    for await (const { name, item } of result) {
      if (name !== 'tool_output') continue;
      // For a call that runs the SDK has no state.
      show(item.rawItem.callId, 'completed', item.rawItem.name);
      if (isWhole(result.history)) keep(session, result);
    }
    // The guide has its caller await this after a stop, too: the results of a batch are there when all of it has ended.
    await result.completed;
    if (!result.cancelled) returned?.(session, result);
  } catch (raised) {
    return { raised };
  } finally {
    // Also of a run that failed the result says how far it came.
    if (result) keep(session, result);
    if (result?.cancelled) end(session, result);
  }
  return { cancelled: result.cancelled };
}

const give = (history, { mode }) => mode === 'session' ? { items: given(history) } : given(history);
const stored = ({ spec, store }) => {
  if (spec.mode !== 'session') return store.load(null);
  const { items, stopped } = kept(store);
  return stopped?.history ?? items;
};
serve({ sdk: '@openai/agents', version, modes: Object.keys(MODES) }, Object.keys(DIALECTS), turn,
  { give, stored, capabilities: { givenOrphans: true, givenRawArguments: true, finalTools: true, changes: { provider: true } } });
