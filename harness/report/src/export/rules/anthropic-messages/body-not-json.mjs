/** Every string is well-formed: a lone surrogate is not a character, and the provider rejects such JSON. */
function problem(request) {
  let half;
  JSON.parse(JSON.stringify(request), (_, value) => {
    if (typeof value === 'string' && !value.isWellFormed()) half = value;
    return value;
  });
  if (half !== undefined) return `the request has half of a character in ${JSON.stringify(half)}`;
}
