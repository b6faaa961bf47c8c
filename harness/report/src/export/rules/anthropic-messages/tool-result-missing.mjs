/** Each tool_use has its tool_result in the next message. */
function problem({ messages }) {
  const blocks = (message) => (Array.isArray(message?.content) ? message.content : []);
  for (const [at, message] of messages.entries()) {
    const answered = blocks(messages[at + 1]).map((block) => block.tool_use_id);
    const open = blocks(message).filter(({ type, id }) => type === 'tool_use' && !answered.includes(id));
    if (open.length > 0) return `messages.${at}: no tool_result in the next message for ${open.map(({ id }) => id)}`;
  }
}
