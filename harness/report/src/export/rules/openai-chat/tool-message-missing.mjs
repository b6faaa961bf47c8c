/** A message with tool_calls is followed by a tool message for each of them. */
function problem({ messages }) {
  for (const [at, { tool_calls: calls = [] }] of messages.entries()) {
    const rest = messages.slice(at + 1);
    const end = rest.findIndex(({ role }) => role !== 'tool');
    const answered = (end < 0 ? rest : rest.slice(0, end)).map((message) => message.tool_call_id);
    const open = (calls ?? []).filter(({ id }) => !answered.includes(id));
    if (open.length > 0) return `messages.${at}: no tool message after it for ${open.map(({ id }) => id)}`;
  }
}
