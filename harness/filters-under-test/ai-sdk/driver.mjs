// Runs the AI SDK's conversion of a history.
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { convertToModelMessages, generateText, jsonSchema, pruneMessages, tool } from 'ai'
import { serve } from './brickbat-filter.mjs'

globalThis.AI_SDK_LOG_WARNINGS = false
const tools = { lookup: tool({ inputSchema: jsonSchema({ type: 'object' }) }) }

class Sent extends Error {}
const options = { apiKey: 'none', fetch: async (_, { body }) => { throw new Sent(body) } }
const models = {
  anthropic: createAnthropic(options)('claude-sonnet-5'),
  chat: createOpenAI(options).chat('gpt-5.2'),
  responses: createOpenAI(options)('gpt-5.2'),
  gemini: createGoogle(options)('gemini-3-pro-preview'),
}

const filters = {
  convert: messages => convertToModelMessages(messages),
  'convert-complete': messages => convertToModelMessages(messages, { ignoreIncompleteToolCalls: true }),
  'prune-tools': (messages, n) => pruneMessages({ messages, toolCalls: `before-last-${n}-messages` }),
  'prune-reasoning': messages => pruneMessages({ messages, reasoning: 'before-last-message' }),
}

await serve(async ({ mode, request, budget }) => {
  const [, provider, name] = /^(\w+)-(.*)$/.exec(mode)
  const model = models[provider]
  try {
    const messages = await filters[name](request, budget?.messages)
    await generateText({ model, messages, tools, maxRetries: 0, allowSystemInMessages: true })
  } catch (error) {
    if (error instanceof Sent) return { request: { model: model.modelId, ...JSON.parse(error.message) } }
    throw error
  }
})
