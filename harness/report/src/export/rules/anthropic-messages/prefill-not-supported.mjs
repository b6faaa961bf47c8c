/** The last message is of the user: the model takes no beginning of its reply. */
function problem({ messages }) {
  const last = messages.at(-1);
  if (last.role === 'assistant') return `messages.${messages.length - 1}: the last message is of the assistant`;
}
