// The calls of the AI SDK 7.
import { convertToModelMessages, isStepCount, jsonSchema, streamText, tool, toUIMessageStream } from 'ai';
import { gate } from 'brickbat-adapter';
import { searchTool } from './models.mjs';

export const CAPABILITIES = { approvals: true, serverTools: true };

const toolOf = (given) => tool({
  description: given.description,
  inputSchema: jsonSchema(given.inputSchema),
  // "Client-side tools" have no `execute`: the request ends, and the reader of its stream runs them.
  execute: given.client ? undefined : (input, { abortSignal }) => gate(given, input, abortSignal),
});

/** The options of `streamText` that every mode has. */
export const options = (spec) => ({
  tools: { ...Object.fromEntries(spec.tools.map((given) => [given.name, toolOf(given)])), ...searchTool(spec) },
  toolApproval: Object.fromEntries(spec.tools.filter(({ asks }) => asks).map(({ name }) => [name, 'user-approval'])),
  // More steps than any scenario has. It bounds a system that never stops calling the model.
  stopWhen: isStepCount(20),
});

// "Handling Cancellation" in the page on subagents: "To avoid errors about incomplete tool calls in subsequent messages,
// use `convertToModelMessages` with `ignoreIncompleteToolCalls`".
export const AFTER_STOP = { ignoreIncompleteToolCalls: true };

// The error handler of the documentation. It returns the text of a failed tool that the model sees.
const onError = String;

/** Restores UI messages with `conversion`, and stores those of each step and of the end of the UI stream. */
export async function uiMessages({ options, stored, save }, conversion) {
  const { stream } = streamText({ ...options, messages: await convertToModelMessages(stored, conversion) });
  return toUIMessageStream({
    stream,
    onError,
    originalMessages: stored,
    generateMessageId: () => `assistant-${stored.length}`,
    onStepEnd: ({ messages }) => save(messages),
    onEnd: ({ messages }) => save(messages),
  });
}

/**
 * Sends model messages as they are, and stores those of each step and of the response: "add the response messages to your
 * conversation history". After a stop the end may never come, and `onAbort` reports only the steps already stored.
 */
export function responseMessages({ options, stored, save }) {
  let written = stored;
  const { stream } = streamText({
    ...options,
    messages: stored,
    onStepEnd: ({ response }) => save(written = [...written, ...response.messages]),
    onEnd: ({ response, responseMessages }) => save([...stored, ...(responseMessages ?? response.messages)]),
  });
  return toUIMessageStream({ stream, onError });
}
