/** Every string is whole: half of a surrogate pair is no character, and the provider reads no such JSON. */
function problem(request) {
  let half;
  JSON.parse(JSON.stringify(request), (_, value) => {
    if (typeof value === 'string' && !value.isWellFormed()) half = value;
    return value;
  });
  if (half !== undefined) return `the request has half of a character in ${JSON.stringify(half)}`;
}
