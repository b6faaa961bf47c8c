// Runs Portkey's gateway.
import net from 'node:net'
import { serve } from './brickbat-filter.mjs'

const providers = {
  'anthropic-messages': { provider: 'anthropic', model: 'claude-sonnet-5' },
  gemini: { provider: 'google', model: 'gemini-3-pro-preview' },
  mistral: { provider: 'mistral-ai', model: 'mistral-large-latest' },
}

// The gateway listens on every interface. Use loopback only.
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

await serve(async ({ to, request }) => {
  const { provider, model } = providers[to]
  sent = undefined
  const headers = { 'content-type': 'application/json', authorization: 'Bearer none', 'x-portkey-provider': provider }
  const body = JSON.stringify({ max_tokens: 1024, ...request, model })
  const reply = await fetch(`http://127.0.0.1:${gateway}/v1/chat/completions`, { method: 'POST', headers, body })
  const message = await reply.text()
  return sent ? { request: { model, ...sent } } : { error: { kind: `status ${reply.status}`, message } }
})
