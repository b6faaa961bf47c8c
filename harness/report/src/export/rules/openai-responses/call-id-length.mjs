/** The id of a call has 1 to 64 characters. */
function problem({ input }) {
  const calls = (Array.isArray(input) ? input : []).filter(({ type }) => type === 'function_call');
  const wrong = calls.find((call) => call.call_id.length < 1 || call.call_id.length > 64);
  if (wrong) return `the id of a function_call has a wrong length: ${JSON.stringify(wrong.call_id)}`;
}
