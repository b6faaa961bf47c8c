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

/** The model of a session. */
const modelId = ({ dialect, model = DIALECTS[dialect].model }) => model;
const modelOf = (modelRuntime, spec) => modelRuntime.getModel(spec.dialect, modelId(spec));

/** One model for each dialect, described as in `models.json` for providers that pi does not know. */
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

/** The SDK's open sessions by the id of ours. */
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
      // The conversations of scenarios are only a few words long, so pi's own compaction keeps only the last message.
      settingsManager: SettingsManager.inMemory({ compaction: { keepRecentTokens: 1 } }),
      // "Continue most recent session (or create new if none)". Each folder has one session.
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
    // "A follow-up enters after the current run finishes its pending work", so a message during a turn is queued.
    await session.prompt(text, { streamingBehavior: 'followUp' });
    await session.waitForIdle();
  } catch (raised) {
    return { raised };
  } finally {
    unsubscribe();
  }
  // pi reports a provider error in the last message instead of throwing it.
  if (last?.stopReason === 'error') return { raised: Object.assign(new Error(last.errorMessage), { name: 'error' }) };
  return { cancelled: last?.stopReason === 'aborted' };
}

/** pi's errors when there is nothing to compact. */
const NOTHING = /^(Nothing to compact|Already compacted)/;

/** Runs `/compact`. During a turn, it declares the context full instead, which pi checks after each batch of tools. */
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

/** Goes back in the session tree to before a user message. */
async function rewind(session, prompts) {
  const isOfUser = ({ type, message }) => type === 'message' && message.role === 'user';
  const said = session.sessionManager.getBranch().filter(isOfUser);
  await session.navigateTree(said.at(-prompts).id);
}

/** Steers the running turn or changes the history. */
async function act(asked, { steer, change }) {
  const session = await sessionOf(asked);
  if (steer) return void await session.steer(steer);
  return change.prompts ? rewind(session, change.prompts) : compact(session, change.keep);
}

serve({ sdk: '@earendil-works/pi-coding-agent', version, modes: ['session'] }, Object.keys(DIALECTS), turn,
  {
    stored: async (asked) => (await sessionOf(asked)).sessionManager.getEntries(),
    act,
    // Same as `/model`.
    provider: async (asked) => {
      const session = await sessionOf(asked);
      await session.setModel(modelOf(session.modelRuntime, asked.spec));
    },
    capabilities: {
      steer: true, secondPrompt: true,
      changes: { automatic: true, rewind: true, summarise: true, inFlight: true, provider: true },
    },
  });
