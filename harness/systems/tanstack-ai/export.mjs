//? mode=client|client-direct
// refuse: a ChatClient, which an application uses in a browser; the mode `server` can be exported
//? end
import { chat, maxIterations, StreamProcessor, toolDefinition } from '@tanstack/ai';
//? dialect=anthropic-messages
import { createAnthropicChat } from '@tanstack/ai-anthropic';
//? end
//? dialect=openai-responses
import { createOpenaiChat } from '@tanstack/ai-openai';
//? end
//? dialect=openai-chat
import { createOpenaiChatCompletions } from '@tanstack/ai-openai';
//? end

/** The application: a server that keeps the messages of a StreamProcessor at every change. */
function application(url, tools) {
  let messages = [];
  return {
    async turn(text, signal) {
      let raised;
      const abortController = new AbortController();
      signal.addEventListener('abort', () => abortController.abort());
      const processor = new StreamProcessor({
        initialMessages: messages,
        events: {
          onMessagesChange: (changed) => { messages = changed; },
          onError: (error) => { raised ??= error; },
        },
      });
      processor.addUserMessage(text);
      messages = processor.getMessages();
      await processor.process(chat({
        //? dialect=anthropic-messages
        adapter: createAnthropicChat('{{model}}', 'test', { baseURL: url }),
        //? end
        //? dialect=openai-responses
        adapter: createOpenaiChat('{{model}}', 'test', { baseURL: `${url}/v1` }),
        //? end
        //? dialect=openai-chat
        adapter: createOpenaiChatCompletions('{{model}}', 'test', { baseURL: `${url}/v1` }),
        //? end
        messages,
        tools: tools.map(({ name, description, inputSchema, run }) => toolDefinition({ name, description, inputSchema })
          .server((input, context) => run(input, context?.abortSignal))),
        abortController,
        agentLoopStrategy: maxIterations(20),
      }));
      messages = processor.getMessages();
      if (raised) throw raised;
    },
  };
}
