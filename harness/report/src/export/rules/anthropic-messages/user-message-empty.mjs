/** No message of the user is empty. */
function problem({ messages }) {
  const empty = messages.findIndex(({ role, content }, at) => role === 'user' && content.length === 0);
  if (empty >= 0) return `messages.${empty}: the message of the user has no content`;
}
