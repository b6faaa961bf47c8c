// Runs llm-bridge.
import { translateBetweenProviders } from 'llm-bridge'
import { serve } from './brickbat-filter.mjs'

const providers = {
  'anthropic-messages': 'anthropic',
  'openai-chat': 'openai',
  'openai-responses': 'openai-responses',
  gemini: 'google',
}

await serve(({ from, to, model, request }) =>
  ({ request: { ...translateBetweenProviders(providers[from], providers[to], request), model } }))
