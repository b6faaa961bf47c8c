// Lets Brickbat drive the OpenAI Agents SDK: a streamed run() for each turn, with the history or a session between them.
import { readFileSync } from 'node:fs';
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
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

/** The five methods of the SDK's `Session`, as its documentation asks of a store of one's own. */
const sessionOf = ({ id, store }) => ({
  getSessionId: async () => id,
  getItems: async (limit) => limit === undefined ? store.load([]) : store.load([]).slice(-limit),
  addItems: async (items) => store.save([...store.load([]), ...items]),
  async popItem() {
    const items = store.load([]);
    const last = items.pop();
    store.save(items);
    return last;
  },
  clearSession: async () => store.save([]),
});

const MODES = {
  /** What the user says is stored at once, and `result.history` when a step is whole and when the run is over. */
  history: {
    begin({ store }, text) {
      const items = [...store.load([]), { role: 'user', content: text }];
      store.save(items);
      return { input: items, options: {} };
    },
    keep: ({ store }, { history }) => store.save(history),
  },
  /** The SDK reads and writes its session itself. */
  session: {
    begin: (session, text) => ({ input: text, options: { session: sessionOf(session) } }),
    keep: () => {},
  },
};

/** Whether every call of a history has its output. */
const isWhole = (history) => {
  const callIds = (kind) => history.filter(({ type }) => type === kind).map(({ callId }) => callId);
  const answered = new Set(callIds('function_call_result'));
  return callIds('function_call').every((id) => answered.has(id));
};

// After a stop the SDK still closes what it has begun, in this many turns of the event loop at the most; a caller who
// waited for `completed` alone would wait for tools that do not hear the stop.
const LOOP_TURNS = 64;
async function loopTurns() {
  for (let i = 0; i < LOOP_TURNS; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** @type {import('brickbat-adapter').Turn} */
async function turn(session, text, signal, show) {
  const { spec } = session;
  const { begin, keep } = MODES[spec.mode];
  const { useResponses, model } = DIALECTS[spec.dialect];
  const modelProvider = new OpenAIProvider({ apiKey: 'test', baseURL: `${spec.baseUrl}/v1`, useResponses });
  // Traces would go to the provider.
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  const agent = new Agent({ name: 'agent', model: spec.model ?? model, tools: spec.tools.map(gated) });
  let result;
  try {
    const { input, options } = begin(session, text);
    result = await runner.run(agent, input, { stream: true, signal, maxTurns: MAX_STEPS, ...options });
    for await (const { name, item } of result) {
      if (name !== 'tool_output') continue;
      // For a call that runs the SDK has no state.
      show(item.rawItem.callId, 'completed', item.rawItem.name);
      if (isWhole(result.history)) keep(session, result);
    }
    await (signal.aborted ? Promise.race([result.completed, loopTurns()]) : result.completed);
  } catch (raised) {
    return { raised };
  } finally {
    // Also of a run that failed the result says how far it came.
    if (result) keep(session, result);
  }
  return { cancelled: result.cancelled };
}

serve({ sdk: '@openai/agents', version, modes: Object.keys(MODES) }, Object.keys(DIALECTS), turn,
  { give: given, capabilities: { givenOrphans: true, givenRawArguments: true } });
