/** The name of a tool_use is made of 1 to 200 letters, digits, `_` and `-`. */
function problem({ messages }) {
  for (const [at, { content }] of messages.entries()) {
    for (const block of Array.isArray(content) ? content : []) {
      if (block.type === 'tool_use' && !/^[a-zA-Z0-9_-]{1,200}$/.test(block.name)) return `messages.${at}: the tool_use has the name ${JSON.stringify(block.name)}`;
    }
  }
}
