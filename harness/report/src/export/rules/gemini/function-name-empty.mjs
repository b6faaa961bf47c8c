/** A functionCall has a name. */
function problem({ contents }) {
  for (const [at, { parts }] of contents.entries()) {
    const wrong = (parts ?? []).find(({ functionCall: call }) => call && !call.name);
    if (wrong) return `contents.${at}: the name of the functionCall is ${JSON.stringify(wrong.functionCall.name)}`;
  }
}
