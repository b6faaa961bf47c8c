/** Each tool_use has its tool_result in the next turn; messages of one role after another are one turn. */
function problem({ messages }) {
  const turns = [];
  for (const { role, content } of messages) {
    if (turns.at(-1)?.role !== role) turns.push({ role, blocks: [] });
    if (Array.isArray(content)) turns.at(-1).blocks.push(...content);
  }
  for (const [at, { blocks }] of turns.entries()) {
    const answered = (turns[at + 1]?.blocks ?? []).map((block) => block.tool_use_id);
    const open = blocks.filter(({ type, id }) => type === 'tool_use' && !answered.includes(id));
    if (open.length > 0) return `no tool_result after turn ${at + 1} for ${open.map(({ id }) => id)}`;
  }
}
