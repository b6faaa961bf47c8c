// Converts a given history to the forms that applications of the AI SDK store. Broken parts stay broken.

const resultsOf = (history) =>
  new Map(history.flatMap(({ results }) => results ?? []).map((result) => [result.id, result]));

/** UI messages: one assistant message for each turn, with one part for each call and its outcome. */
export function uiMessages(history, said) {
  const results = resultsOf(history);
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
    if (user !== undefined) messages.push(said(user, messages.length));
    if (!assistant) continue;
    if (messages.at(-1)?.role !== 'assistant') {
      messages.push({ id: `assistant-${messages.length}`, role: 'assistant', parts: [] });
    }
    messages.at(-1).parts.push({ type: 'step-start' }, ...assistant.map(part));
  }
  return messages;
}

/** Model messages: each result is a separate message that names its tool. */
export function modelMessages(history, said) {
  const names = new Map(history.flatMap(({ assistant }) => assistant ?? [])
    .filter(({ call }) => call).map(({ call }) => [call.id, call.tool]));
  const block = ({ text, call }) => text !== undefined
    ? { type: 'text', text }
    : { type: 'tool-call', toolCallId: call.id, toolName: call.tool, input: call.args };
  const result = ({ id, text, isError }) => ({
    type: 'tool-result',
    toolCallId: id,
    toolName: names.get(id),
    output: { type: isError ? 'error-text' : 'text', value: text },
  });
  return history.map(({ user, assistant, results }) => {
    if (user !== undefined) return said(user);
    if (assistant) return { role: 'assistant', content: assistant.map(block) };
    return { role: 'tool', content: results.map(result) };
  });
}
