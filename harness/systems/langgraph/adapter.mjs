// Lets Brickbat drive LangGraph: LangChain's createAgent, whose graph keeps a thread in a checkpointer.
import { readFileSync } from 'node:fs';
import { ChatAnthropic } from '@langchain/anthropic';
import { MemorySaver } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import { countTokensApproximately, createAgent, summarizationMiddleware, tool } from 'langchain';
import { gate, serve } from 'brickbat-adapter';

// The package does not export its package.json.
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.resolve('@langchain/langgraph'))));
const openai = (useResponsesApi) => ({ baseUrl, model = 'gpt-4.1' }) => new ChatOpenAI({
  model, apiKey: 'test', useResponsesApi, configuration: { baseURL: `${baseUrl}/v1` },
});
const MODELS = {
  'anthropic-messages': ({ baseUrl, model = 'claude-haiku-4-5' }) =>
    new ChatAnthropic({ model, apiKey: 'test', anthropicApiUrl: baseUrl }),
  'openai-chat': openai(false),
  'openai-responses': openai(true),
};
/** When a checkpoint is written: in parallel with the next step, before it, or at the end of the run. */
const MODES = { async: 'async', sync: 'sync', exit: 'exit', compaction: 'async' };
// Each reply takes one step of the model and one of the tools. More than any scenario has; the SDK's default is 25.
const MAX_STEPS = 60;

const gated = (given) => tool((input, config) => gate(given, input, config?.signal), {
  name: given.name, description: given.description, schema: given.inputSchema,
});

/** The SDK's memory saver, backed by a file in place of a database: the SDK's database savers need a compiler. */
class FileSaver extends MemorySaver {
  constructor(store) {
    super();
    this.store = store;
    const reviver = (_, value) => (typeof value?.bytes === 'string' ? new Uint8Array(Buffer.from(value.bytes)) : value);
    Object.assign(this, JSON.parse(JSON.stringify(store.load({})), reviver));
  }

  keep() {
    const replacer = (_, value) => (value instanceof Uint8Array ? { bytes: Buffer.from(value).toString() } : value);
    this.store.save(JSON.parse(JSON.stringify({ storage: this.storage, writes: this.writes }, replacer)));
  }

  async put(...args) {
    const config = await super.put(...args);
    this.keep();
    return config;
  }

  async putWrites(...args) {
    await super.putWrites(...args);
    this.keep();
  }
}

const threadOf = ({ id }) => ({ configurable: { thread_id: id } });

// Token count at which the history is summarised: more than any scenario has unless its provider reports more.
const FULL = 100_000;

/** The middleware of the mode `compaction`. If a summary is requested, its token counter returns the threshold once. */
function compactionOf(session, model) {
  const tokenCounter = (messages) => {
    if (session.keep === undefined) return countTokensApproximately(messages);
    session.keep = undefined;
    return FULL;
  };
  return summarizationMiddleware({ model, trigger: { tokens: FULL }, keep: { messages: 1 }, tokenCounter });
}

/** Takes effect before the next model request. Between turns, the next user message is in the history by then. */
function act(session, { change: { keep } }) {
  session.keep = session.isRunning ? keep : keep + 1;
}

function agentOf(session) {
  const { spec, store } = session;
  if (!session.agent) {
    const model = MODELS[spec.dialect](spec);
    const middleware = spec.mode === 'compaction' ? [compactionOf(session, model)] : [];
    session.agent = createAgent({ model, tools: spec.tools.map(gated), checkpointer: new FileSaver(store), middleware });
  }
  return session.agent;
}

/** Shows the results in an update of the graph. The SDK reports no state for a running call. */
function showUpdate(update, show) {
  for (const message of Object.values(update).flatMap((step) => step?.messages ?? [])) {
    if (message.tool_call_id) show(message.tool_call_id, message.status === 'error' ? 'failed' : 'completed', message.name);
  }
}

/** @type {import('brickbat-adapter').Turn} */
async function turn(session, text, signal, show) {
  const config = { ...threadOf(session), signal, recursionLimit: MAX_STEPS, durability: MODES[session.spec.mode] };
  if (session.keep !== undefined) config.context = { keep: { messages: session.keep } };
  session.isRunning = true;
  try {
    const input = { messages: [{ role: 'user', content: text }] };
    // The model streams only in the mode `messages`.
    const stream = await agentOf(session).stream(input, { ...config, streamMode: ['messages', 'updates'] });
    for await (const [mode, chunk] of stream) {
      if (mode === 'updates') showUpdate(chunk, show);
    }
  } catch (raised) {
    return { raised, cancelled: signal.aborted && raised?.name === 'AbortError' };
  } finally {
    session.isRunning = false;
  }
  return {};
}

const stored = async (session) => (await agentOf(session).getState(threadOf(session))).values.messages ?? [];
serve({ sdk: '@langchain/langgraph', version, modes: Object.keys(MODES) }, Object.keys(MODELS), turn,
  { stored, act, capabilities: { changes: { summarise: true, inFlight: true, provider: true } } });
