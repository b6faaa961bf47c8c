/** A tool message follows a message with tool_calls, or another tool message. */
function problem({ messages }) {
  const stray = messages.findIndex(({ role }, at) =>
    role === 'tool' && messages[at - 1]?.role !== 'tool' && !messages[at - 1]?.tool_calls?.length);
  if (stray >= 0) return `messages.${stray}: the tool message follows no message with tool_calls`;
}
