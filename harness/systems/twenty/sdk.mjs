// What every application of the AI SDK here has in common: its models, and the harness's tools as the SDK's.
import { createRequire } from 'node:module';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { jsonSchema, stepCountIs, tool } from 'ai';
import { gate } from 'brickbat-adapter';

globalThis.AI_SDK_LOG_WARNINGS = false;
// Before 6.0.226 a result that comes when the stream has broken ends the process, if nobody catches it: servers do.
process.on('unhandledRejection', (error) => console.error(error));

export const { version } = createRequire(import.meta.url)('ai/package.json');
// Up to 6.0.259 a tool starts when its call is complete, later when the reply is.
export const eagerTools = Number(version.split('.')[2]) < 260;
export const models = {
  'anthropic-messages': ({ baseUrl, model = 'claude-haiku-4-5' }) =>
    createAnthropic({ baseURL: `${baseUrl}/v1`, apiKey: 'none' })(model),
  'openai-chat': ({ baseUrl, model = 'gpt-4.1' }) =>
    createOpenAI({ baseURL: `${baseUrl}/v1`, apiKey: 'none' }).chat(model),
};
// More steps than any scenario has; it bounds a system that never stops asking.
const MAX_STEPS = 20;
const gated = (given) => tool({
  description: given.description,
  inputSchema: jsonSchema(given.inputSchema),
  execute: (input, { abortSignal }) => gate(given, input, abortSignal),
});

/** The options of `streamText` that a session gives. */
export const asked = (spec, signal) => ({
  model: models[spec.dialect](spec),
  tools: Object.fromEntries(spec.tools.map((given) => [given.name, gated(given)])),
  stopWhen: stepCountIs(MAX_STEPS),
  abortSignal: signal,
});
/** How a turn ended. A stop may also surface as the signal's own error. */
export const endOf = (signal, aborted, raised) =>
  ({ raised, cancelled: aborted || (signal.aborted && raised?.name === 'AbortError') });
