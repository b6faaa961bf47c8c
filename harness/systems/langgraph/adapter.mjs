// Lets Brickbat drive LangGraph: LangChain's createAgent, whose graph keeps a thread in a checkpointer.
import { readFileSync } from 'node:fs';
import { ChatAnthropic } from '@langchain/anthropic';
import { MemorySaver } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
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
/** When a checkpoint is written: while the next step runs, before it, or when the run is over. */
const MODES = { async: 'async', sync: 'sync', exit: 'exit' };
// A step of the model and one of the tools for each reply; more than any scenario has. The SDK's own default is 25.
const MAX_STEPS = 60;

const gated = (given) => tool((input, config) => gate(given, input, config?.signal), {
  name: given.name, description: given.description, schema: given.inputSchema,
});

/** The SDK's saver, with a file behind it as an application would have a database: the SDK's own ones need a compiler. */
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
function agentOf(session) {
  const { spec, store } = session;
  const checkpointer = new FileSaver(store);
  session.agent ??= createAgent({ model: MODELS[spec.dialect](spec), tools: spec.tools.map(gated), checkpointer });
  return session.agent;
}

/** The results of which the steps of the graph tell. For a call that runs the SDK has no state. */
function showUpdate(update, show) {
  for (const message of Object.values(update).flatMap((step) => step?.messages ?? [])) {
    if (message.tool_call_id) show(message.tool_call_id, message.status === 'error' ? 'failed' : 'completed', message.name);
  }
}

/** @type {import('brickbat-adapter').Turn} */
async function turn(session, text, signal, show) {
  const config = { ...threadOf(session), signal, recursionLimit: MAX_STEPS, durability: MODES[session.spec.mode] };
  try {
    const input = { messages: [{ role: 'user', content: text }] };
    // The mode `messages` is what makes the model stream.
    const stream = await agentOf(session).stream(input, { ...config, streamMode: ['messages', 'updates'] });
    for await (const [mode, chunk] of stream) {
      if (mode === 'updates') showUpdate(chunk, show);
    }
  } catch (raised) {
    return { raised, cancelled: signal.aborted && raised?.name === 'AbortError' };
  }
  return {};
}

const stored = async (session) => (await agentOf(session).getState(threadOf(session))).values.messages ?? [];
serve({ sdk: '@langchain/langgraph', version, modes: Object.keys(MODES) }, Object.keys(MODELS), turn, { stored });
