// Lets Brickbat drive what Pensar Apex does with the stream of the AI SDK: it tells a bus, and keeps a file of messages.
import { createRequire } from 'node:module';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { modelMessages } from './given.mjs';
import { gate, serve } from './protocol.mjs';
import { MODES, track } from './tracker.mjs';

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
// What the bus tells of a call as soon as it comes. With a tracker its end is told by the tracker.
const begun = { 'tool-input-start': 'pending', 'tool-call': 'in_progress' };
const ended = { 'tool-result': 'completed', 'tool-error': 'failed' };
// More steps than any scenario has; it bounds a system that never stops asking.
const MAX_STEPS = 20;
const said = (text) => ({ role: 'user', content: text });

/** @type {import('./protocol.mjs').Turn} */
async function turn({ spec, store }, text, signal, show) {
  const rules = MODES[spec.mode];
  const states = rules ? begun : { ...begun, ...ended };
  const initial = [...store.load([]), said(text)];
  store.save(initial);
  // Up to version 6 the messages of a step hold those of the steps before it.
  const keep = ({ response }) => store.save([...initial, ...response.messages]);
  const tracker = rules && track(rules, show);
  let finished, aborted, raised;
  try {
    const result = streamText({
      model: models[spec.dialect](spec),
      messages: initial,
      tools: Object.fromEntries(spec.tools.map((given) => [given.name, gated(given)])),
      stopWhen: stepCountIs(MAX_STEPS),
      abortSignal: signal,
      onStepFinish: keep,
      onFinish: keep,
      onError: ({ error }) => { raised ??= error; },
    });
    for await (const chunk of result.fullStream) {
      finished ||= chunk.type === 'finish';
      aborted ||= chunk.type === 'abort';
      show(chunk.toolCallId ?? chunk.id, states[chunk.type], chunk.toolName);
      tracker?.see(chunk);
    }
  } catch (error) {
    raised ??= error;
  } finally {
    const reason = signal.aborted ? 'Agent aborted by user' : (raised?.message ?? 'Stream terminated unexpectedly');
    if (tracker && !finished) store.save(tracker.close(store.load([]), reason));
  }
  // A stop may also surface as the signal's own error.
  return { raised, cancelled: aborted || (signal.aborted && raised?.name === 'AbortError') };
}

const give = (history) => modelMessages(history, said);
// Up to 6.0.259 a tool starts when its call is complete, later when the reply is.
const eagerTools = Number(version.split('.')[2]) < 260;
const capabilities = { eagerTools, history: true, sharedSession: true };
serve({ sdk: 'ai', version, modes: Object.keys(MODES), capabilities }, Object.keys(models), turn, give);
