/** Each function_call has its function_call_output. */
function problem({ input }) {
  const items = Array.isArray(input) ? input : [];
  const answered = items.filter(({ type }) => type === 'function_call_output').map((item) => item.call_id);
  const open = items.filter(({ type, call_id: id }) => type === 'function_call' && !answered.includes(id));
  if (open.length > 0) return `no function_call_output for ${open.map((item) => item.call_id)}`;
}
