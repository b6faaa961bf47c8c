import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';

/** The application: the messages of the tool runner are the conversation, and the next turn sends them. */
function application(url, tools) {
  let messages = [];
  return {
    async turn(text, signal) {
      messages = [...messages, { role: 'user', content: text }];
      const runner = new Anthropic({ baseURL: url, apiKey: 'none' }).beta.messages.toolRunner({
        model: '{{model}}',
        max_tokens: 4096,
        messages,
        tools: tools.map(({ run, ...tool }) => betaTool({ ...tool, run: (input, context) => run(input, context?.signal) })),
        stream: true,
        //? major!=0
        // The application keeps the conversation.
        thread: false,
        //? end
        //? mode=eager
        runToolsEagerly: true,
        //? end
      }, { signal });
      //? mode=finished|eager
      try {
        for await (const stream of runner) {
          messages = runner.params.messages;
          for await (const _ of stream);
        }
      } finally {
        messages = runner.params.messages;
      }
      //? end
      //? mode=steps
      for await (const stream of runner) {
        messages = runner.params.messages;
        for await (const _ of stream);
      }
      messages = runner.params.messages;
      //? end
    },
  };
}
