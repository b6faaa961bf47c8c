/** Each function_call_output has its function_call before it. */
function problem({ input }) {
  const items = Array.isArray(input) ? input : [];
  const called = (at) => items.slice(0, at).filter(({ type }) => type === 'function_call').map((item) => item.call_id);
  const stray = items.findIndex(({ type, call_id: id }, at) => type === 'function_call_output' && !called(at).includes(id));
  if (stray >= 0) return `input.${stray}: the function_call_output of ${items[stray].call_id} has no function_call before it`;
}
