// Runs one filter. Put your own function in the place of `trim`.
import { serve } from './brickbat-filter.mjs'

const modes = {
  // Keeps the instructions and the newest messages.
  trim: (request, budget) => {
    const system = request.messages.filter(message => message.role === 'system')
    const others = request.messages.filter(message => message.role !== 'system')
    return { ...request, messages: [...system, ...others.slice(-budget.messages)] }
  },
}

await serve(async ({ mode, request, budget }) => ({ request: await modes[mode](request, budget) }))
