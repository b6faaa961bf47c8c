// Runs the core of claude-code-router. Each input line has an Anthropic request, each output line the translated request.
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

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

const log = console.log
console.log = () => {}
const server = new Server({ initialConfig: { providers, HOST: '127.0.0.1', PORT: '0' }, logger: false })
await new Promise(resolve => setImmediate(resolve))
await server.start()

for await (const line of createInterface({ input: process.stdin })) {
  const { id, to, request } = JSON.parse(line)
  sent = undefined
  const payload = { ...request, model: `${to},${models[to]}` }
  const reply = await server.app.inject({ method: 'POST', url: '/v1/messages', payload })
  const answer = sent ? { request: { model: models[to], ...sent } } : { error: { kind: `status ${reply.statusCode}`, message: reply.body } }
  log(JSON.stringify({ id, ...answer }))
}
process.exit(0)
