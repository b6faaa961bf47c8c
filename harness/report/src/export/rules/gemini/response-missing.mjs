/** A content with functionCall parts is followed by one with a functionResponse for each of them. */
function problem({ contents }) {
  const count = (content, kind) => (content?.parts ?? []).filter((part) => part[kind]).length;
  for (const [at, content] of contents.entries()) {
    const [calls, responses] = [count(content, 'functionCall'), count(contents[at + 1], 'functionResponse')];
    if (calls > responses) return `contents.${at}: ${calls} functionCall parts, and ${responses} functionResponse parts after them`;
  }
}
