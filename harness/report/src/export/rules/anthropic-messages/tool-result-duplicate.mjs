/** No message has two tool_result blocks for one tool_use. */
function problem({ messages }) {
  for (const [at, { content }] of messages.entries()) {
    const results = (Array.isArray(content) ? content : []).filter(({ type }) => type === 'tool_result');
    const ids = results.map((block) => block.tool_use_id);
    const twice = ids.find((id, nth) => ids.indexOf(id) !== nth);
    if (twice) return `messages.${at}: ${twice} has two tool_result blocks`;
  }
}
