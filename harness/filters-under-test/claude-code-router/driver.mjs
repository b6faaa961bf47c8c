// Runs the core of claude-code-router.
import { createRequire } from 'node:module'
import { serve } from './brickbat-filter.mjs'

const { default: Server } = createRequire(import.meta.url)('@musistudio/llms')

const url = 'http://127.0.0.1:9/'
const models = { 'openai-chat': 'gpt-5.2', gemini: 'gemini-3-pro-preview' }
const providers = [
  { name: 'openai-chat', api_base_url: url, api_key: 'none', models: [models['openai-chat']] },
  { name: 'gemini', api_base_url: url, api_key: 'none', models: [models.gemini], transformer: { use: ['gemini'] } },
]

let sent
globalThis.fetch = async (_, { body }) => {
  sent = JSON.parse(body)
  return new Response('{"error":{"message":"only the body was wanted"}}', { status: 400 })
}

const server = new Server({ initialConfig: { providers, HOST: '127.0.0.1', PORT: '0' }, logger: false })
await new Promise(resolve => setImmediate(resolve))
await server.start()

await serve(async ({ to, request }) => {
  sent = undefined
  const payload = { ...request, model: `${to},${models[to]}` }
  const reply = await server.app.inject({ method: 'POST', url: '/v1/messages', payload })
  if (!sent) return { error: { kind: `status ${reply.statusCode}`, message: reply.body } }
  return { request: { model: models[to], ...sent } }
})
