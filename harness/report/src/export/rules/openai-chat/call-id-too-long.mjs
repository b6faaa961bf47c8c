/** The id of a call has at most 40 characters. */
function problem({ messages }) {
  for (const [at, { tool_calls: calls }] of messages.entries()) {
    const wrong = (calls ?? []).find((call) => call.id.length > 40);
    if (wrong) return `messages.${at}: the id of the call is too long: ${JSON.stringify(wrong.id)}`;
  }
}
