/** The ids of tool_use blocks are unique. */
function problem({ messages }) {
  const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const ids = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
  const twice = ids.find((id, nth) => ids.indexOf(id) !== nth);
  if (twice) return `two tool_use blocks have the id ${twice}`;
}
