/** The application: its own loop over the API. In version 1, it forgets the calls of a stopped batch. */
function application(url, tools) {
  const messages = [];
  const offered = tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema }));
  const ask = async (signal) => {
    const body = JSON.stringify({ model: '{{model}}', max_tokens: 1000, stream: true, tools: offered, messages });
    const answer = await fetch(`${url}/v1/messages`, { method: 'POST', body, signal });
    const events = (await answer.text()).split('\n').filter((line) => line.startsWith('data: '));
    const blocks = [];
    for (const event of events.map((line) => JSON.parse(line.slice(6)))) {
      if (event.type === 'content_block_start') blocks[event.index] = { ...event.content_block, json: '' };
      if (event.delta?.text) blocks[event.index].text += event.delta.text;
      if (event.delta?.partial_json) blocks[event.index].json += event.delta.partial_json;
    }
    return blocks.map(({ json, ...block }) => (block.type === 'tool_use' ? { ...block, input: JSON.parse(json) } : block));
  };
  return {
    async turn(text, signal) {
      messages.push({ role: 'user', content: text });
      for (;;) {
        const content = await ask(signal);
        messages.push({ role: 'assistant', content });
        const calls = content.filter(({ type }) => type === 'tool_use');
        if (calls.length === 0) return;
        const run = ({ name, input }) => tools.find((tool) => tool.name === name).run(input, signal);
        const ended = await Promise.allSettled(calls.map(run));
        //? major=1
        if (signal.aborted) throw signal.reason;
        //? end
        messages.push({
          role: 'user',
          content: ended.map(({ value, reason }, at) =>
            ({ type: 'tool_result', tool_use_id: calls[at].id, content: value ?? String(reason) })),
        });
        if (signal.aborted) throw signal.reason;
      }
    },
  };
}
