// Lets Brickbat drive the chat of Twenty CRM: its use of the AI SDK and the store around it.
import { convertToModelMessages, jsonSchema, streamText } from 'ai';
import { z } from 'zod';
import { serve } from 'brickbat-adapter';
import { CHOKEPOINTS, messageOf, rowsOf } from './rows.mjs';
import { asked, eagerTools, endOf, models, version } from './sdk.mjs';
import { given, userMessage } from './ui-messages.mjs';

const states = { 'tool-input-start': 'pending', 'tool-input-available': 'in_progress', 'tool-input-error': 'failed',
  'tool-output-available': 'completed', 'tool-output-error': 'failed' };

// Twenty describes its tools with zod, which rejects invalid arguments.
const strict = (schema) => {
  const parser = z.fromJSONSchema(schema);
  const validate = (value) => {
    const { success, data, error } = parser.safeParse(value);
    return success ? { success, value: data } : { success, error };
  };
  return jsonSchema(schema, { validate });
};
/** The shared options, with tools that validate their arguments. */
function checked({ tools, ...asked }, spec) {
  const strictly = ({ name, inputSchema }) => [name, { ...tools[name], inputSchema: strict(inputSchema) }];
  return { ...asked, tools: Object.fromEntries(spec.tools.map(strictly)) };
}

const add = (store, chokepoint, { id, role, parts }) =>
  store.save([...store.load([]), rowsOf({ id, role, parts: chokepoint(parts) })]);

/** @type {import('brickbat-adapter').Turn} */
async function turn({ spec, store }, text, signal, show) {
  const chokepoint = CHOKEPOINTS[spec.mode];
  const n = store.load([]).length;
  add(store, chokepoint, userMessage(text, n));
  const messages = store.load([]).map(messageOf);
  const running = new Set();
  let aborted, raised;
  try {
    const result = streamText({
      ...checked(asked(spec, signal), spec),
      messages: await convertToModelMessages(messages),
      onError: ({ error }) => { raised ??= error; },
    });
    const stream = result.toUIMessageStream({
      generateMessageId: () => `assistant-${n + 1}`,
      // The error is stored with the call.
      onError: (error) => error?.message ?? String(error),
      onFinish: ({ responseMessage }) => add(store, chokepoint, responseMessage),
    });
    for await (const chunk of stream) {
      aborted ||= chunk.type === 'abort';
      const state = states[chunk.type];
      if (state) running[state === 'pending' || state === 'in_progress' ? 'add' : 'delete'](chunk.toolCallId);
      show(chunk.toolCallId, state, chunk.toolName);
    }
  } catch (error) {
    raised ??= error;
  }
  // After the stream has ended, no call is displayed as running.
  for (const id of running) show(id, 'failed');
  return endOf(signal, aborted, raised);
}

// A given history is stored unchanged: its broken parts were written before the chokepoint existed.
const give = (history) => given(history).map(rowsOf);
const capabilities = { eagerTools, history: true, sharedSession: true };
serve({ sdk: 'ai', version, modes: Object.keys(CHOKEPOINTS) }, Object.keys(models), turn, { capabilities, give });
