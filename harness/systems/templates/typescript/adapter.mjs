// Lets Brickbat drive the AI SDK. For an SDK of your own, replace what is said of the AI SDK here.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { convertToModelMessages, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { gate, serve, versionOf } from 'brickbat-adapter';

const version = versionOf(import.meta.resolve('ai'));
const models = {
  'anthropic-messages': (baseURL, model = 'claude-haiku-4-5') => createAnthropic({ baseURL, apiKey: 'none' })(model),
  'openai-chat': (baseURL, model = 'gpt-4.1') => createOpenAI({ baseURL, apiKey: 'none' }).chat(model),
};
const gated = (given) => tool({
  description: given.description,
  inputSchema: jsonSchema(given.inputSchema),
  execute: (input, { abortSignal }) => gate(given, input, abortSignal),
});
const states = { 'tool-input-start': 'pending', 'tool-input-available': 'in_progress', 'tool-input-error': 'failed',
  'tool-output-available': 'completed', 'tool-output-error': 'failed' };

/** @type {import('brickbat-adapter').Turn} */
async function turn({ spec, store }, text, signal, show) {
  const messages = [...store.load([]), { role: 'user', parts: [{ type: 'text', text }] }];
  store.save(messages);
  let end, raised;
  try {
    const model = models[spec.dialect](`${spec.baseUrl}/v1`, spec.model);
    const result = streamText({ model, stopWhen: stepCountIs(20),
      tools: Object.fromEntries(spec.tools.map((given) => [given.name, gated(given)])), abortSignal: signal,
      messages: await convertToModelMessages(messages, { ignoreIncompleteToolCalls: true }),
      onError: ({ error }) => { raised ??= error; } });
    const stream = result.toUIMessageStream({ originalMessages: messages, onFinish: (finish) => { end = finish; } });
    for await (const chunk of stream) show(chunk.toolCallId, states[chunk.type], chunk.toolName);
  } catch (error) {
    raised ??= error;
  }
  if (end) store.save(end.messages);
  return { raised, cancelled: end?.isAborted || (signal.aborted && raised?.name === 'AbortError') };
}
serve({ sdk: 'ai', version, modes: ['ui-messages'] }, Object.keys(models), turn);
