/** The name of a function is made of 1 to 64 letters, digits, `_` and `-`. */
function problem({ messages }) {
  for (const [at, { tool_calls: calls }] of messages.entries()) {
    const wrong = (calls ?? []).find((call) => !/^[a-zA-Z0-9_-]{1,64}$/.test(call.function.name));
    if (wrong) return `messages.${at}: the name of the function is ${JSON.stringify(wrong.function.name)}`;
  }
}
