// Runs Portkey's gateway. Each input line has a request, each output line the request that it sends to the provider.
import net from 'node:net'
import { createInterface } from 'node:readline'

const providers = {
  'anthropic-messages': { provider: 'anthropic', model: 'claude-sonnet-5' },
  gemini: { provider: 'google', model: 'gemini-3-pro-preview' },
  mistral: { provider: 'mistral-ai', model: 'mistral-large-latest' },
}

// The gateway listens on every interface and writes to standard output. Use loopback only, and drop its output.
const write = process.stdout.write.bind(process.stdout)
process.stdout.write = () => true
const { listen } = net.Server.prototype
const gateway = await new Promise(resolve => {
  net.Server.prototype.listen = function () { return listen.call(this, 0, '127.0.0.1', () => resolve(this.address().port)) }
  import('@portkey-ai/gateway/build/start-server.js')
})

let sent
const { fetch } = globalThis
globalThis.fetch = async (_, { body }) => {
  sent = JSON.parse(body)
  return new Response('{"error":{"message":"only the body was wanted"}}', { status: 400, headers: { 'content-type': 'application/json' } })
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, to, request } = JSON.parse(line)
  const { provider, model } = providers[to]
  sent = undefined
  const headers = { 'content-type': 'application/json', authorization: 'Bearer none', 'x-portkey-provider': provider }
  const body = JSON.stringify({ max_tokens: 1024, ...request, model })
  const reply = await fetch(`http://127.0.0.1:${gateway}/v1/chat/completions`, { method: 'POST', headers, body })
  const message = await reply.text()
  const answer = sent ? { request: { model, ...sent } } : { error: { kind: `status ${reply.status}`, message } }
  write(JSON.stringify({ id, ...answer }) + '\n')
}
process.exit(0)
