/** Each function_call has its function_call_output, unless it is an async call. */
function problem({ input }) {
  const items = Array.isArray(input) ? input : [];
  const answered = items.filter(({ type }) => type === 'function_call_output').map((item) => item.call_id);
  const waits = ({ type, async, call_id: id }) => type === 'function_call' && async !== true && !answered.includes(id);
  const open = items.filter(waits);
  if (open.length > 0) return `no function_call_output for ${open.map((item) => item.call_id)}`;
}
