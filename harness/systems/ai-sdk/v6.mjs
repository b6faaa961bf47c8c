// The calls of the AI SDK 6.
import { convertToModelMessages, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { gate } from 'brickbat-adapter';

export const CAPABILITIES = { approvals: true };

const toolOf = (given) => tool({
  description: given.description,
  inputSchema: jsonSchema(given.inputSchema),
  needsApproval: given.asks,
  // "Client-side tools" have no `execute`: the request ends, and the reader of its stream runs them.
  execute: given.client ? undefined : (input, { abortSignal }) => gate(given, input, abortSignal),
});

/** The options of `streamText` that every mode has. */
export const options = (spec) => ({
  tools: Object.fromEntries(spec.tools.map((given) => [given.name, toolOf(given)])),
  // More steps than any scenario has. It bounds a system that never stops calling the model.
  stopWhen: stepCountIs(20),
});

// "Handling Cancellation" in the page on subagents: "To avoid errors about incomplete tool calls in subsequent messages,
// use `convertToModelMessages` with `ignoreIncompleteToolCalls`".
export const AFTER_STOP = { ignoreIncompleteToolCalls: true };

// The error handler of the documentation.
const onError = (error) => error?.message ?? String(error);

/** Restores UI messages with `conversion`, and stores those from the end of the UI stream. */
export async function uiMessages({ options, stored, save }, conversion) {
  const result = streamText({ ...options, messages: await convertToModelMessages(stored, conversion) });
  return result.toUIMessageStream({
    onError,
    originalMessages: stored,
    generateMessageId: () => `assistant-${stored.length}`,
    onFinish: ({ messages }) => save(messages),
  });
}

/**
 * Sends model messages as they are, and stores those of each step and of the response: "add the response messages to your
 * conversation history". Those of a step include the earlier steps. After a stop the end may never come, and `onAbort`
 * reports only the steps already stored.
 */
export function responseMessages({ options, stored, save }) {
  const keep = ({ response }) => save([...stored, ...response.messages]);
  return streamText({ ...options, messages: stored, onStepFinish: keep, onFinish: keep }).toUIMessageStream({ onError });
}
