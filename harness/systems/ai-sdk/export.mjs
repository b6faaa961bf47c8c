//? dialect=anthropic-messages
import { createAnthropic } from '@ai-sdk/anthropic';
//? end
//? dialect=gemini
import { createGoogleGenerativeAI } from '@ai-sdk/google';
//? end
//? dialect=openai-chat|openai-responses
import { createOpenAI } from '@ai-sdk/openai';
//? end
//? mode=response-messages major=5|6
import { jsonSchema, stepCountIs, streamText, tool } from 'ai';
//? end
//? mode!=response-messages major=5|6
import { convertToModelMessages, jsonSchema, stepCountIs, streamText, tool } from 'ai';
//? end
//? mode=response-messages major!=5|6
import { isStepCount, jsonSchema, streamText, tool } from 'ai';
//? end
//? mode!=response-messages major!=5|6
import { convertToModelMessages, isStepCount, jsonSchema, streamText, toUIMessageStream, tool } from 'ai';
//? end

//? mode=response-messages
/** The application: adds the model messages of the response to the conversation, which the next turn sends. */
//? end
//? mode!=response-messages
/** The application: the messages from the end of the UI message stream are stored and converted for the next turn. */
//? end
function application(url, tools) {
  let messages = [];
  const model = () => {
    //? dialect=anthropic-messages
    return createAnthropic({ baseURL: `${url}/v1`, apiKey: 'test' })('{{model}}');
    //? end
    //? dialect=openai-chat
    return createOpenAI({ baseURL: `${url}/v1`, apiKey: 'test' }).chat('{{model}}');
    //? end
    //? dialect=openai-responses
    return createOpenAI({ baseURL: `${url}/v1`, apiKey: 'test' }).responses('{{model}}');
    //? end
    //? dialect=gemini
    return createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey: 'test' })('{{model}}');
    //? end
  };
  const offered = Object.fromEntries(tools.map(({ name, description, inputSchema, run }) => [name, tool({
    description,
    inputSchema: jsonSchema(inputSchema),
    execute: (input, { abortSignal }) => run(input, abortSignal),
  })]));
  return {
    async turn(text, abortSignal) {
      //? mode=response-messages
      messages = [...messages, { role: 'user', content: text }];
      const before = messages;
      //? end
      //? mode!=response-messages
      messages = [...messages, { id: `user-${messages.length}`, role: 'user', parts: [{ type: 'text', text }] }];
      //? end
      let raised;
      const result = streamText({
        model: model(),
        //? mode=response-messages
        messages,
        //? end
        //? mode=ui-messages
        messages: await convertToModelMessages(messages),
        //? end
        //? mode=ui-messages-clean
        messages: await convertToModelMessages(messages, { ignoreIncompleteToolCalls: true }),
        //? end
        tools: offered,
        //? major=5|6
        stopWhen: stepCountIs(20),
        //? end
        //? major!=5|6
        stopWhen: isStepCount(20),
        //? end
        abortSignal,
        onError: ({ error }) => { raised ??= error; },
        //? mode=response-messages major=5|6
        onFinish: ({ response }) => { messages = [...before, ...response.messages]; },
        onStepFinish: ({ response }) => { messages = [...before, ...response.messages]; },
        //? end
        //? mode=response-messages major!=5|6
        onEnd: ({ response, responseMessages }) => { messages = [...before, ...(responseMessages ?? response.messages)]; },
        onStepEnd: ({ response }) => { messages = [...messages, ...response.messages]; },
        //? end
      });
      //? mode!=response-messages major=5|6
      const stream = result.toUIMessageStream({
        originalMessages: messages,
        generateMessageId: () => `assistant-${messages.length}`,
        onError: (error) => error?.message ?? String(error),
        onFinish: (end) => { messages = end.messages; },
      });
      for await (const _ of stream);
      //? end
      //? mode!=response-messages major!=5|6
      const stream = toUIMessageStream({
        stream: result.stream,
        originalMessages: messages,
        generateMessageId: () => `assistant-${messages.length}`,
        onError: (error) => String(error),
        onEnd: (end) => { messages = end.messages; },
        onStepEnd: (step) => { messages = step.messages; },
      });
      for await (const _ of stream);
      //? end
      //? mode=response-messages
      for await (const _ of result.fullStream);
      //? end
      if (raised && !abortSignal.aborted) throw raised;
    },
  };
}
