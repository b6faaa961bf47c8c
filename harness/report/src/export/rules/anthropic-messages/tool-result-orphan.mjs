/** Each tool_result answers a tool_use of the message before it. */
function problem({ messages }) {
  const blocks = (message) => (Array.isArray(message?.content) ? message.content : []);
  for (const [at, message] of messages.entries()) {
    const called = blocks(messages[at - 1]).map((block) => block.id);
    const stray = blocks(message).find(({ type, tool_use_id: id }) => type === 'tool_result' && !called.includes(id));
    if (stray) return `messages.${at}: the tool_result of ${stray.tool_use_id} has no tool_use in the message before it`;
  }
}
