/** The id of a tool_use is made of letters, digits, `_` and `-`. */
function problem({ messages }) {
  for (const [at, { content }] of messages.entries()) {
    for (const block of Array.isArray(content) ? content : []) {
      if (block.type === 'tool_use' && !/^[a-zA-Z0-9_-]+$/.test(block.id)) return `messages.${at}: the tool_use has the id ${JSON.stringify(block.id)}`;
    }
  }
}
