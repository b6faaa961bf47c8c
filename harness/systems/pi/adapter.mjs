// Lets Brickbat drive the coding agent pi through its SDK: an AgentSession for each conversation. See README.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createAgentSession, createExtensionRuntime, estimateTokens, ModelRuntime, SessionManager, SettingsManager,
} from '@earendil-works/pi-coding-agent';
import { gate, serve } from 'brickbat-adapter';

// The package does not export its package.json.
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.resolve('@earendil-works/pi-coding-agent'))));
const DIALECTS = {
  'anthropic-messages': { api: 'anthropic-messages', path: '', model: 'claude-haiku-4-5' },
  'openai-chat': { api: 'openai-completions', path: '/v1', model: 'gpt-4.1' },
  'openai-responses': { api: 'openai-responses', path: '/v1', model: 'gpt-4.1' },
  gemini: { api: 'google-generative-ai', path: '/v1beta', model: 'gemini-3-pro-preview' },
};

const gated = (given) => ({
  name: given.name,
  label: given.name,
  description: given.description,
  parameters: given.inputSchema,
  execute: async (_id, input, signal) => ({ content: [{ type: 'text', text: await gate(given, input, signal) }], details: {} }),
});

/** The model that a session asks. */
const modelId = ({ dialect, model = DIALECTS[dialect].model }) => model;
const modelOf = (modelRuntime, spec) => modelRuntime.getModel(spec.dialect, modelId(spec));

/** The models, as `models.json` describes those of providers that pi does not know: one for each dialect. */
async function runtimeOf({ stateDir, baseUrl, ...spec }) {
  const modelsPath = join(stateDir, 'models.json');
  const provider = ([dialect, { api, path, model }]) => {
    const id = dialect === spec.dialect ? modelId(spec) : model;
    return [dialect, { baseUrl: baseUrl + path, apiKey: 'none', api, models: [{ id }] }];
  };
  writeFileSync(modelsPath, JSON.stringify({ providers: Object.fromEntries(Object.entries(DIALECTS).map(provider)) }));
  return ModelRuntime.create({ authPath: join(stateDir, 'auth.json'), modelsPath });
}

// Nothing is discovered, as in the SDK's example "Full Control".
const resourceLoader = () => ({
  getExtensions: () => ({ extensions: [], errors: [], runtime: createExtensionRuntime() }),
  getSkills: () => ({ skills: [], diagnostics: [] }),
  getPrompts: () => ({ prompts: [], diagnostics: [] }),
  getThemes: () => ({ themes: [], diagnostics: [] }),
  getAgentsFiles: () => ({ agentsFiles: [] }),
  getSystemPrompt: () => 'You are a helpful assistant.',
  getSystemPromptSource: () => undefined,
  getAppendSystemPrompt: () => [],
  getAppendSystemPromptSources: () => [],
  extendResources() {},
  reload: async () => {},
});

/** The sessions of the SDK that are open in this process, by the id of ours. */
const open = new Map();
async function sessionOf({ id, spec }) {
  if (!open.has(id)) {
    const modelRuntime = await runtimeOf(spec);
    const { session } = await createAgentSession({
      cwd: spec.stateDir,
      agentDir: spec.stateDir,
      modelRuntime,
      model: modelOf(modelRuntime, spec),
      thinkingLevel: 'off',
      resourceLoader: resourceLoader(),
      noTools: 'builtin',
      customTools: spec.tools.map(gated),
      // A conversation of a scenario is a few words, and of these a compaction of pi's own leaves the last.
      settingsManager: SettingsManager.inMemory({ compaction: { keepRecentTokens: 1 } }),
      // "Continue most recent session (or create new if none)": a folder has one.
      sessionManager: SessionManager.continueRecent(spec.stateDir, join(spec.stateDir, 'sessions')),
    });
    open.set(id, session);
  }
  return open.get(id);
}

/** @type {import('brickbat-adapter').Turn} */
async function turn(running, text, stop, show) {
  const session = await sessionOf(running);
  let last;
  const unsubscribe = session.subscribe((event) => {
    const { type, toolCallId, toolName, isError, message } = event;
    if (type === 'tool_execution_start') show(toolCallId, 'in_progress', toolName);
    else if (type === 'tool_execution_end') show(toolCallId, isError ? 'failed' : 'completed', toolName);
    else if (type === 'message_end' && message.role === 'assistant') last = message;
  });
  stop.addEventListener('abort', () => session.abort());
  try {
    // "A follow-up enters after the current run finishes its pending work": what is said while a turn runs is queued.
    await session.prompt(text, { streamingBehavior: 'followUp' });
    await session.waitForIdle();
  } catch (raised) {
    return { raised };
  } finally {
    unsubscribe();
  }
  // An error of the provider is in the last message, and no exception.
  if (last?.stopReason === 'error') return { raised: Object.assign(new Error(last.errorMessage), { name: 'error' }) };
  return { cancelled: last?.stopReason === 'aborted' };
}

/** What pi says where it has nothing to compact. */
const NOTHING = /^(Nothing to compact|Already compacted)/;

/** `/compact`; while a turn runs, the context counts as full, and pi looks at that itself after each batch of tools. */
async function compact(session, keep) {
  const settings = session.settingsManager;
  const last = keep ? session.messages.slice(-keep) : [];
  const keepRecentTokens = last.reduce((sum, message) => sum + estimateTokens(message), 0);
  if (session.isStreaming) {
    const usual = settings.getCompactionSettings();
    const unsubscribe = session.subscribe(({ type }) => {
      if (type !== 'compaction_end' && type !== 'agent_end') return;
      settings.applyOverrides({ compaction: usual });
      unsubscribe();
    });
    settings.applyOverrides({ compaction: { keepRecentTokens, reserveTokens: session.model.contextWindow } });
    return {};
  }
  settings.applyOverrides({ compaction: { keepRecentTokens } });
  try {
    await session.compact();
  } catch ({ message }) {
    return { changed: !NOTHING.test(message) };
  }
  return {};
}

/** Goes back in the tree of the session to before a message of the user. */
async function rewind(session, prompts) {
  const isOfUser = ({ type, message }) => type === 'message' && message.role === 'user';
  const said = session.sessionManager.getBranch().filter(isOfUser);
  await session.navigateTree(said.at(-prompts).id);
}

/** Says something to the running turn, or changes the history. */
async function act(asked, { steer, change }) {
  const session = await sessionOf(asked);
  if (steer) return void await session.steer(steer);
  return change.prompts ? rewind(session, change.prompts) : compact(session, change.keep);
}

serve({ sdk: '@earendil-works/pi-coding-agent', version, modes: ['session'] }, Object.keys(DIALECTS), turn,
  {
    stored: async (asked) => (await sessionOf(asked)).sessionManager.getEntries(),
    act,
    // As `/model` does it.
    provider: async (asked) => {
      const session = await sessionOf(asked);
      await session.setModel(modelOf(session.modelRuntime, asked.spec));
    },
    capabilities: {
      steer: true, secondPrompt: true,
      changes: { automatic: true, rewind: true, summarise: true, inFlight: true, provider: true },
    },
  });
