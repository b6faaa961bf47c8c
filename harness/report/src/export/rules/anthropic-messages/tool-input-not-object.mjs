/** The input of a tool_use is an object. */
function problem({ messages }) {
  for (const [at, { content }] of messages.entries()) {
    for (const block of Array.isArray(content) ? content : []) {
      if (block.type === 'tool_use' && (block.input === null || typeof block.input !== 'object' || Array.isArray(block.input))) return `messages.${at}: the tool_use has the input ${JSON.stringify(block.input)}`;
    }
  }
}
