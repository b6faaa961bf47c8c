/** The arguments of a functionCall are an object. */
function problem({ contents }) {
  for (const [at, { parts }] of contents.entries()) {
    const wrong = (parts ?? []).find(({ functionCall: call }) => call && call.args !== undefined && (call.args === null || typeof call.args !== 'object' || Array.isArray(call.args)));
    if (wrong) return `contents.${at}: the arguments of the functionCall are ${JSON.stringify(wrong.functionCall.args)}`;
  }
}
