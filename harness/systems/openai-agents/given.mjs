// Converts a given history to the items of the OpenAI Agents SDK. Broken parts stay broken.

/** Calls and their outputs are separate items in both modes. */
export function given(history) {
  const calls = history.flatMap(({ assistant }) => assistant ?? []).flatMap(({ call }) => call ?? []);
  const names = new Map(calls.map(({ id, tool }) => [id, tool]));
  const itemOf = ({ text, call }) => call === undefined
    ? { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] }
    : { type: 'function_call', callId: call.id, name: call.tool, status: 'completed', arguments: call.raw ?? JSON.stringify(call.args) };
  const outputOf = ({ id, text, orphanOf }) => ({
    type: 'function_call_result', callId: id, name: names.get(id) ?? orphanOf, status: 'completed',
    output: { type: 'text', text },
  });
  return history.flatMap(({ user, assistant, results }) => {
    if (user !== undefined) return { type: 'message', role: 'user', content: user };
    return assistant ? assistant.map(itemOf) : results.map(outputOf);
  });
}
