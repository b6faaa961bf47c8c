// Converts a given history to the UI messages that TanStack AI stores. Broken parts stay broken.

/** One assistant message for each turn, with the calls of each reply followed by a part for each result. */
export function given(history) {
  const results = new Map(history.flatMap(({ results }) => results ?? []).map((result) => [result.id, result]));
  const partOf = ({ text, call }) => {
    if (text !== undefined) return { type: 'text', content: text };
    const { id, tool: name, args: input } = call;
    const own = { type: 'tool-call', id, name, arguments: JSON.stringify(input), input };
    const result = results.get(id);
    if (!result) return { ...own, state: 'input-complete' };
    if (result.isError) return { ...own, state: 'error', output: { error: result.text } };
    return { ...own, state: 'complete', output: result.text };
  };
  const resultOf = ({ id, text, isError }) => isError
    ? { type: 'tool-result', toolCallId: id, content: JSON.stringify({ error: text }), state: 'error', error: text }
    : { type: 'tool-result', toolCallId: id, content: text, state: 'complete' };

  const messages = [];
  const append = (role, parts) => {
    if (messages.at(-1)?.role !== role) messages.push({ id: `${role}-${messages.length}`, role, parts: [] });
    messages.at(-1).parts.push(...parts);
  };
  for (const { user, assistant, results: answers } of history) {
    if (user !== undefined) append('user', [{ type: 'text', content: user }]);
    if (assistant) append('assistant', assistant.map(partOf));
    if (answers) append('assistant', answers.map(resultOf));
  }
  return messages;
}
