// Runs llm-bridge. Each input line has a request, each output line its translation.
import { createInterface } from 'node:readline'
import { translateBetweenProviders } from 'llm-bridge'

const providers = {
  'anthropic-messages': 'anthropic',
  'openai-chat': 'openai',
  'openai-responses': 'openai-responses',
  gemini: 'google',
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, from, to, model, request } = JSON.parse(line)
  let answer
  try {
    answer = { request: { ...translateBetweenProviders(providers[from], providers[to], request), model } }
  } catch (error) {
    answer = { error: { kind: error.name, message: String(error.message) } }
  }
  process.stdout.write(JSON.stringify({ id, ...answer }) + '\n')
}
