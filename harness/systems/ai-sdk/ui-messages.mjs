// UI messages as an application stores them: one message of the assistant for each turn, with one part for each call and its
// outcome.

export const userMessage = (text, n) => ({ id: `user-${n}`, role: 'user', parts: [{ type: 'text', text }] });

const withParts = (stored, change) => stored.map((message) => ({ ...message, parts: message.parts.map(change) }));

/** Adds the result of a call that ran on the user's side, as `addToolOutput` does. */
export const withResult = (stored, { toolCallId, output, errorText }) => withParts(stored, (part) => {
  if (part.toolCallId !== toolCallId) return part;
  return errorText === undefined
    ? { ...part, state: 'output-available', output } : { ...part, state: 'output-error', errorText };
});

/** Writes the user's answers into the parts that ask, as `addToolApprovalResponse` does. */
export const withAnswers = (stored, answers) => withParts(stored, (part) => {
  const answer = part.state === 'approval-requested' && answers.find(({ id }) => id === part.approval.id);
  return answer ? { ...part, state: 'approval-responded', approval: { ...part.approval, ...answer } } : part;
});

/** Converts a given history. Broken parts stay broken: a call without a result is an `input-available` part. */
export function given(history) {
  const results = new Map(history.flatMap(({ results }) => results ?? []).map((result) => [result.id, result]));
  const part = ({ text, call }) => {
    if (text !== undefined) return { type: 'text', text, state: 'done' };
    const { id: toolCallId, tool, args: input } = call;
    const own = { type: `tool-${tool}`, toolCallId, input };
    const result = results.get(toolCallId);
    if (!result) return { ...own, state: 'input-available' };
    if (result.isError) return { ...own, state: 'output-error', errorText: result.text };
    return { ...own, state: 'output-available', output: result.text };
  };
  const messages = [];
  for (const { user, assistant } of history) {
    if (user !== undefined) messages.push(userMessage(user, messages.length));
    if (!assistant) continue;
    if (messages.at(-1)?.role !== 'assistant') {
      messages.push({ id: `assistant-${messages.length}`, role: 'assistant', parts: [] });
    }
    messages.at(-1).parts.push({ type: 'step-start' }, ...assistant.map(part));
  }
  return messages;
}
