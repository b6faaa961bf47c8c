// Model messages as an application stores them: what `streamText` takes and returns.

export const userMessage = (text) => ({ role: 'user', content: text });

const toolResult = (toolCallId, toolName, output, errorText) => ({
  type: 'tool-result', toolCallId, toolName,
  output: errorText === undefined ? { type: 'text', value: output } : { type: 'error-text', value: errorText },
});

/** Adds the result of a call that ran on the user's side. */
export const withResult = (stored, { toolCallId, toolName, output, errorText }) =>
  [...stored, { role: 'tool', content: [toolResult(toolCallId, toolName, output, errorText)] }];

/** Adds the user's answers, once all have been given. */
export const withAnswers = (stored, answers, nAsked) => answers.length < nAsked ? stored : [...stored, {
  role: 'tool',
  content: answers.map(({ id, approved }) => ({ type: 'tool-approval-response', approvalId: id, approved })),
}];

/** Converts a given history. Broken parts stay broken: a call without a result is a `tool-call` without a `tool-result`. */
export function given(history) {
  const blocks = history.flatMap(({ assistant }) => assistant ?? []);
  const names = new Map(blocks.filter(({ call }) => call).map(({ call }) => [call.id, call.tool]));
  const block = ({ text, call }) => text !== undefined
    ? { type: 'text', text } : { type: 'tool-call', toolCallId: call.id, toolName: call.tool, input: call.args };
  const result = ({ id, text, isError }) => isError
    ? toolResult(id, names.get(id), undefined, text) : toolResult(id, names.get(id), text);
  return history.map(({ user, assistant, results }) => {
    if (user !== undefined) return userMessage(user);
    if (assistant) return { role: 'assistant', content: assistant.map(block) };
    return { role: 'tool', content: results.map(result) };
  });
}
