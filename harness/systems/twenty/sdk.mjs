// Shared by all applications of the AI SDK here: the models, and the harness's tools as tools of the SDK.
import { createRequire } from 'node:module';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { jsonSchema, stepCountIs, tool } from 'ai';
import { gate } from 'brickbat-adapter';

globalThis.AI_SDK_LOG_WARNINGS = false;
// Before 6.0.226, a result that arrives after the stream has broken is an unhandled rejection that ends the process.
// Servers catch it.
process.on('unhandledRejection', (error) => console.error(error));

export const { version } = createRequire(import.meta.url)('ai/package.json');
// Up to 6.0.259, a tool starts as soon as its call is complete. Later versions wait for the complete reply.
export const eagerTools = Number(version.split('.')[2]) < 260;
export const models = {
  'anthropic-messages': ({ baseUrl, model = 'claude-haiku-4-5' }) =>
    createAnthropic({ baseURL: `${baseUrl}/v1`, apiKey: 'none' })(model),
  'openai-chat': ({ baseUrl, model = 'gpt-4.1' }) =>
    createOpenAI({ baseURL: `${baseUrl}/v1`, apiKey: 'none' }).chat(model),
};
// More steps than any scenario has. It bounds a system that never stops calling the model.
const MAX_STEPS = 20;
const gated = (given) => tool({
  description: given.description,
  inputSchema: jsonSchema(given.inputSchema),
  execute: (input, { abortSignal }) => gate(given, input, abortSignal),
});

/** The options of `streamText` for a session. */
export const asked = (spec, signal) => ({
  model: models[spec.dialect](spec),
  tools: Object.fromEntries(spec.tools.map((given) => [given.name, gated(given)])),
  stopWhen: stepCountIs(MAX_STEPS),
  abortSignal: signal,
});
/** The end of a turn. A stop can also surface as the signal's own error. */
export const endOf = (signal, aborted, raised) =>
  ({ raised, cancelled: aborted || (signal.aborted && raised?.name === 'AbortError') });
