/** The name of a tool_use has from 1 to 200 characters. */
function problem({ messages }) {
  for (const [at, { content }] of messages.entries()) {
    for (const block of Array.isArray(content) ? content : []) {
      if (block.type === 'tool_use' && !/^.{1,200}$/su.test(block.name)) return `messages.${at}: the tool_use has the name ${JSON.stringify(block.name)}`;
    }
  }
}
