// Runs LangChain's trimming and sending of a history in JavaScript.
import { ChatAnthropic } from '@langchain/anthropic'
import { coerceMessageLikeToMessage, trimMessages } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { serve } from './brickbat-filter.mjs'

let sent
const fetch = async (_, { body }) => {
  sent = JSON.parse(body)
  return new Response('{"error":{"message":"only the body was wanted"}}', { status: 400 })
}
const openai = { model: 'gpt-5.2', apiKey: 'none', maxRetries: 0, configuration: { fetch } }
const chat = new ChatOpenAI({ ...openai, useResponsesApi: false })
const models = {
  trim: chat,
  'send-chat': chat,
  'send-responses': new ChatOpenAI({ ...openai, useResponsesApi: true }),
  'send-anthropic': new ChatAnthropic({ model: 'claude-sonnet-5', apiKey: 'none', maxRetries: 0, clientOptions: { fetch } }),
}
// From https://docs.langchain.com/oss/javascript/langchain/short-term-memory.
const trim = (messages, maxTokens) => trimMessages(messages, { strategy: 'last', maxTokens,
  tokenCounter: list => list.length, startOn: 'human', endOn: ['human', 'tool'], includeSystem: true })

await serve(async ({ mode, request, budget, control }) => {
  sent = undefined
  try {
    const given = request.messages.map(coerceMessageLikeToMessage)
    const messages = mode === 'trim' && !control ? await trim(given, budget.messages) : given
    await models[mode].invoke(messages, request.tools && { tools: request.tools })
  } catch (error) {
    // The answer to every request is an error.
    if (!sent) throw error
  }
  return { request: sent }
})
