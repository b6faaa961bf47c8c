/** No text block is empty. */
function problem({ messages }) {
  for (const [at, { content }] of messages.entries()) {
    const empty = Array.isArray(content) && content.some(({ type, text }) => type === 'text' && text === '');
    if (empty) return `messages.${at}: a text block is empty`;
  }
}
