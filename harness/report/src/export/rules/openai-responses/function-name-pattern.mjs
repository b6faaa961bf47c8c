/** The name of a function is made of letters, digits, `_` and `-`. */
function problem({ input }) {
  const calls = (Array.isArray(input) ? input : []).filter(({ type }) => type === 'function_call');
  const wrong = calls.find((call) => !/^[a-zA-Z0-9_-]+$/.test(call.name));
  if (wrong) return `the name of a function_call is ${JSON.stringify(wrong.name)}`;
}
