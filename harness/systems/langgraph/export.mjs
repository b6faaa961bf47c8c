//? dialect=anthropic-messages
import { ChatAnthropic } from '@langchain/anthropic';
//? end
import { MemorySaver } from '@langchain/langgraph';
//? dialect!=anthropic-messages
import { ChatOpenAI } from '@langchain/openai';
//? end
import { createAgent, tool } from 'langchain';

/** The application: an agent with a checkpointer that keeps the thread. */
function application(url, tools) {
  const agent = createAgent({
    //? dialect=anthropic-messages
    model: new ChatAnthropic({ model: '{{model}}', apiKey: 'test', anthropicApiUrl: url }),
    //? end
    //? dialect=openai-chat
    model: new ChatOpenAI({ model: '{{model}}', apiKey: 'test', configuration: { baseURL: `${url}/v1` } }),
    //? end
    //? dialect=openai-responses
    model: new ChatOpenAI({
      model: '{{model}}', apiKey: 'test', useResponsesApi: true, configuration: { baseURL: `${url}/v1` },
    }),
    //? end
    tools: tools.map(({ name, description, inputSchema: schema, run }) =>
      tool((input, config) => run(input, config?.signal), { name, description, schema })),
    checkpointer: new MemorySaver(),
  });
  return {
    async turn(text, signal) {
      const stream = await agent.stream({ messages: [{ role: 'user', content: text }] }, {
        configurable: { thread_id: 'thread' },
        signal,
        recursionLimit: 60,
        durability: '{{mode}}',
        // The model streams only in the mode `messages`.
        streamMode: ['messages', 'updates'],
      });
      for await (const _ of stream);
    },
  };
}
