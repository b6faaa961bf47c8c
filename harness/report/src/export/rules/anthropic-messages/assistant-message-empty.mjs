/** No message of the assistant is empty, but the last one may be. */
function problem({ messages }) {
  const empty = messages.findIndex(({ role, content }, at) => role === 'assistant' && content.length === 0 && at < messages.length - 1);
  if (empty >= 0) return `messages.${empty}: the message of the assistant has no content`;
}
