// Lets Brickbat drive VoltAgent: an Agent with its Memory in LibSQL, and one stream for each turn. See README.md.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { Agent, createHooks, createTool, isAbortError, Memory } from '@voltagent/core';
import { LibSQLMemoryAdapter } from '@voltagent/libsql';
import { jsonSchema } from 'ai';
import { gate, serve } from 'brickbat-adapter';

// The package does not export its package.json.
const { version } = JSON.parse(readFileSync(new URL('node_modules/@voltagent/core/package.json', import.meta.url)));
const DIALECTS = {
  'anthropic-messages': (baseURL, model = 'claude-haiku-4-5') => createAnthropic({ baseURL: `${baseURL}/v1`, apiKey: 'x' })(model),
  'openai-chat': (baseURL, model = 'gpt-4.1') => createOpenAI({ baseURL: `${baseURL}/v1`, apiKey: 'x' }).chat(model),
  'openai-responses': (baseURL, model = 'gpt-4.1') => createOpenAI({ baseURL: `${baseURL}/v1`, apiKey: 'x' }).responses(model),
  gemini: (baseURL, model = 'gemini-3-pro-preview') =>
    createGoogleGenerativeAI({ baseURL: `${baseURL}/v1beta`, apiKey: 'x' })(model),
};
/** When the SDK writes the messages of a turn: while it runs, which is the default, or at its end. */
const MODES = { step: { mode: 'step' }, finish: { mode: 'finish' } };
// More steps than any scenario has. The SDK's default is 5.
const MAX_STEPS = 20;
// More messages than any scenario has. The SDK's default is 10.
const CONTEXT_LIMIT = 1000;
const USER = 'user';

const gated = (given) => createTool({
  name: given.name,
  description: given.description,
  parameters: jsonSchema(given.inputSchema),
  execute: (input, { toolContext }) => gate(given, input, toolContext.abortSignal),
});

/** The memory of a session, in a file of its folder. A process opens one for each folder. */
const memories = new Map();
function memoryOf({ stateDir }) {
  if (!memories.has(stateDir)) {
    memories.set(stateDir, new Memory({ storage: new LibSQLMemoryAdapter({ url: `file:${join(stateDir, 'memory.db')}` }) }));
  }
  return memories.get(stateDir);
}

/** The agent of a session. Its hook notes that the SDK has reported a stop. */
const agentOf = (session) => session.agent ??= new Agent({
  name: 'assistant',
  instructions: 'You are a helpful assistant.',
  model: DIALECTS[session.spec.dialect](session.spec.baseUrl, session.spec.model),
  tools: session.spec.tools.map(gated),
  memory: memoryOf(session.spec),
  maxSteps: session.spec.maxSteps ?? MAX_STEPS,
  conversationPersistence: MODES[session.spec.mode],
  hooks: createHooks({ onEnd: ({ error }) => { session.cancelled ||= isAbortError(error); } }),
});

const STATES = {
  'tool-input-start': 'pending', 'tool-call': 'in_progress', 'tool-result': 'completed', 'tool-error': 'failed',
};

/** @type {import('brickbat-adapter').Turn} */
async function turn(session, text, abortSignal, show) {
  const memory = { userId: USER, conversationId: session.id, options: { contextLimit: CONTEXT_LIMIT } };
  let raised;
  session.cancelled = false;
  try {
    const { fullStream } = await agentOf(session).streamText(text, { memory, abortSignal });
    for await (const chunk of fullStream) {
      if (STATES[chunk.type]) show(chunk.toolCallId ?? chunk.id, STATES[chunk.type], chunk.toolName);
      else if (chunk.type === 'error') raised ??= chunk.error;
    }
  } catch (error) {
    raised ??= error;
  }
  // The SDK tells its hook of a stop; the stream ends, or throws the reason.
  const stopped = session.cancelled && (!raised || isAbortError(raised) || raised === abortSignal.reason);
  return stopped ? { cancelled: true } : { raised };
}

/** The stored messages of a conversation. */
const stored = ({ id, spec }) => memoryOf(spec).getMessages(USER, id);

serve({ sdk: '@voltagent/core', version, modes: Object.keys(MODES) }, Object.keys(DIALECTS), turn,
  { stored, capabilities: { stepLimit: true, sharedSession: true, changes: { provider: true } } });
