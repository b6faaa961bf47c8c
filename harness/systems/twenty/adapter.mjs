// Lets Brickbat drive the chat of Twenty CRM, as far as the AI SDK and the store around it go.
import { createRequire } from 'node:module';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { convertToModelMessages, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { uiMessages } from './given.mjs';
import { gate, serve } from './protocol.mjs';
import { CHOKEPOINTS, messageOf, rowsOf } from './rows.mjs';

globalThis.AI_SDK_LOG_WARNINGS = false;
// Before 6.0.226 a result that comes when the stream has broken ends the process, if nobody catches it: servers do.
process.on('unhandledRejection', (error) => console.error(error));
const { version } = createRequire(import.meta.url)('ai/package.json');
const models = {
  'anthropic-messages': ({ baseUrl, model = 'claude-haiku-4-5' }) =>
    createAnthropic({ baseURL: `${baseUrl}/v1`, apiKey: 'none' })(model),
  'openai-chat': ({ baseUrl, model = 'gpt-4.1' }) =>
    createOpenAI({ baseURL: `${baseUrl}/v1`, apiKey: 'none' }).chat(model),
};
const gated = (given) => tool({
  description: given.description,
  inputSchema: jsonSchema(given.inputSchema),
  execute: (input, { abortSignal }) => gate(given, input, abortSignal),
});
const states = { 'tool-input-start': 'pending', 'tool-input-available': 'in_progress', 'tool-input-error': 'failed',
  'tool-output-available': 'completed', 'tool-output-error': 'failed' };
// More steps than any scenario has; it bounds a system that never stops asking.
const MAX_STEPS = 20;

const said = (text, n) => ({ id: `user-${n}`, role: 'user', parts: [{ type: 'text', text }] });
const add = (store, chokepoint, { id, role, parts }) =>
  store.save([...store.load([]), rowsOf({ id, role, parts: chokepoint(parts) })]);

/** @type {import('./protocol.mjs').Turn} */
async function turn({ spec, store }, text, signal, show) {
  const chokepoint = CHOKEPOINTS[spec.mode];
  const n = store.load([]).length;
  add(store, chokepoint, said(text, n));
  const messages = store.load([]).map(messageOf);
  let aborted, raised;
  try {
    const result = streamText({
      model: models[spec.dialect](spec),
      messages: await convertToModelMessages(messages),
      tools: Object.fromEntries(spec.tools.map((given) => [given.name, gated(given)])),
      stopWhen: stepCountIs(MAX_STEPS),
      abortSignal: signal,
      onError: ({ error }) => { raised ??= error; },
    });
    const stream = result.toUIMessageStream({
      generateMessageId: () => `assistant-${n + 1}`,
      // What went wrong is stored with the call.
      onError: (error) => error?.message ?? String(error),
      onFinish: ({ responseMessage }) => add(store, chokepoint, responseMessage),
    });
    for await (const chunk of stream) {
      aborted ||= chunk.type === 'abort';
      show(chunk.toolCallId, states[chunk.type], chunk.toolName);
    }
  } catch (error) {
    raised ??= error;
  }
  // A stop may also surface as the signal's own error.
  return { raised, cancelled: aborted || (signal.aborted && raised?.name === 'AbortError') };
}

// A given history comes as it is: what is broken in it was written before there was a chokepoint.
const give = (history) => uiMessages(history, said).map(rowsOf);
// Up to 6.0.259 a tool starts when its call is complete, later when the reply is.
const eagerTools = Number(version.split('.')[2]) < 260;
const capabilities = { eagerTools, history: true, sharedSession: true };
serve({ sdk: 'ai', version, modes: Object.keys(CHOKEPOINTS), capabilities }, Object.keys(models), turn, give);
