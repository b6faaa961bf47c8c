// Lets Brickbat drive Strands Agents for TypeScript the way an application uses it. README.md describes what it stores and when.
import { readFileSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  Agent, BeforeModelCallEvent, BeforeToolCallEvent, SessionManager, SlidingWindowConversationManager, SummarizingConversationManager,
  tool,
} from '@strands-agents/sdk';
import { AnthropicModel } from '@strands-agents/sdk/models/anthropic';
import { BedrockModel } from '@strands-agents/sdk/models/bedrock';
import { GoogleModel } from '@strands-agents/sdk/models/google';
import { OpenAIModel } from '@strands-agents/sdk/models/openai';
import { LocalFileStorage } from '@strands-agents/sdk/storage';
import { GoogleGenAI } from '@google/genai';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { gate, serve } from 'brickbat-adapter';

// The package does not export its package.json.
const root = new URL('../../package.json', import.meta.resolve('@strands-agents/sdk'));
const { version } = JSON.parse(readFileSync(root, 'utf8'));
// The SDK has very different context windows for different models. Here every model has a window of this size.
const contextWindowLimit = 200_000;
const openai = (api, modelId, url) => new OpenAIModel({ api, modelId, contextWindowLimit, apiKey: 'x', clientConfig: { baseURL: `${url}/v1` } });
const DIALECTS = {
  'anthropic-messages': (url, modelId = 'claude-haiku-4-5') =>
    new AnthropicModel({ modelId, contextWindowLimit, maxTokens: 4096, apiKey: 'x', clientConfig: { baseURL: url } }),
  'openai-chat': (url, modelId = 'gpt-4.1') => openai('chat', modelId, url),
  'openai-responses': (url, modelId = 'gpt-5') => openai('responses', modelId, url),
  gemini: (url, modelId = 'gemini-3-pro-preview') =>
    new GoogleModel({ modelId, contextWindowLimit, client: new GoogleGenAI({ apiKey: 'x', httpOptions: { baseUrl: url } }) }),
  'bedrock-converse': (url, modelId = 'global.anthropic.claude-haiku-4-5-20251001-v1:0') =>
    new BedrockModel({
      modelId,
      contextWindowLimit,
      region: 'us-east-1',
      // The default handler uses HTTP/2, which a provider without TLS does not support.
      clientConfig: {
        endpoint: url, requestHandler: new NodeHttpHandler(), credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
      },
    }),
};
/** When the session manager writes its latest snapshot of the agent. */
const MODES = { invocation: 'invocation', message: 'message', summarizing: 'message' };

const gated = (given) => tool({
  name: given.name,
  description: given.description,
  inputSchema: given.inputSchema,
  callback: (input, context) => gate(given, input, context.cancelSignal),
});

/** The managers that change the history. The second summarises as much as the SDK allows. */
const MANAGERS = {
  trim: (windowSize) => new SlidingWindowConversationManager({ windowSize }),
  summarise: (preserveRecentMessages) => new SummarizingConversationManager({ summaryRatio: 0.8, preserveRecentMessages }),
};

/** The manager that summarises by itself when the context is nearly full. It leaves the last message. */
const summarizing = () => new SummarizingConversationManager({
  summaryRatio: 0.8, preserveRecentMessages: 1, proactiveCompression: { compressionThreshold: 0.8 },
});

/** Reduces the context before the next model request, as the SDK does. The next user message is in the history by then. */
function act(session, { change: { kind, keep } }) {
  session.reducing = MANAGERS[kind](session.isRunning ? keep : keep + 1);
}

/** An agent with the stored session that its manager keeps. */
function opened(session) {
  const { id, spec } = session;
  const asking = new Set(spec.tools.filter((given) => given.asks).map((given) => given.name));
  const agent = new Agent({
    model: DIALECTS[spec.dialect](spec.baseUrl, spec.model),
    tools: spec.tools.map(gated),
    sessionManager: new SessionManager({
      sessionId: id, storage: new LocalFileStorage(spec.stateDir), saveLatestOn: MODES[spec.mode],
    }),
    ...(spec.mode === 'summarizing' && { conversationManager: summarizing() }),
    printer: false,
  });
  // The hook of the guide's page on interrupts.
  agent.addHook(BeforeToolCallEvent, (event) => {
    if (!asking.has(event.toolUse.name)) return;
    const answer = event.interrupt({ name: 'approval', reason: { call: event.toolUse.toolUseId } });
    if (answer !== 'yes') event.cancel = 'The user has refused.';
  });
  agent.addHook(BeforeModelCallEvent, async (event) => {
    const manager = session.reducing;
    session.reducing = undefined;
    await manager?.reduce({ agent: event.agent, model: event.model });
  });
  return agent;
}

/** Reads the events of a run and returns its result. */
async function read(events, show) {
  let result;
  for await (const event of events) {
    if (event.type === 'beforeToolCallEvent') show(event.toolUse.toolUseId, 'in_progress', event.toolUse.name);
    else if (event.type === 'toolResultEvent') {
      show(event.result.toolUseId, event.result.status === 'success' ? 'completed' : 'failed');
    } else if (event.type === 'agentResultEvent') result = event.result;
  }
  return result;
}

/** @type {import('brickbat-adapter').Turn} */
async function turn(session, text, cancelSignal, show, ask) {
  const agent = opened(session);
  session.isRunning = true;
  const { maxSteps } = session.spec;
  const options = { cancelSignal, ...(maxSteps && { limits: { turns: maxSteps } }) };
  try {
    let result = await read(agent.stream(text, options), show);
    while (result.stopReason === 'interrupt') {
      const asked = result.interrupts;
      const answers = await Promise.all(asked.map(({ reason }) => ask(reason.call)));
      // The SDK is idle while the user is asked, so the stop reaches only the application.
      if (cancelSignal.aborted) return { cancelled: true };
      const responses = asked.map(({ id }, i) => ({ interruptResponse: { interruptId: id, response: answers[i] ? 'yes' : 'no' } }));
      result = await read(agent.stream(responses, options), show);
    }
    return { cancelled: result.stopReason === 'cancelled' };
  } catch (raised) {
    return { raised };
  } finally {
    session.isRunning = false;
  }
}

/** The snapshots in the folder of the session. */
async function stored({ id, spec }) {
  const files = (await readdir(spec.stateDir, { recursive: true })).sort();
  const snapshots = files.filter((file) => file.includes(id) && file.endsWith('snapshot_latest.json'));
  return Promise.all(snapshots.map(async (file) => JSON.parse(await readFile(join(spec.stateDir, file), 'utf8'))));
}

serve({ sdk: '@strands-agents/sdk', version, modes: Object.keys(MODES) }, Object.keys(DIALECTS), turn,
  { stored, act,
    capabilities: {
      approvals: true, stepLimit: true, sharedSession: true,
      changes: { automatic: true, trim: true, summarise: true, inFlight: true, provider: true },
    } });
