// Asks one filter: a JSON line in, a JSON line out. Put your own function in the place of `trim`.
import { createInterface } from 'node:readline'

const modes = {
  // Keeps the instructions and the newest messages.
  trim: (request, budget) => {
    const system = request.messages.filter(message => message.role === 'system')
    const others = request.messages.filter(message => message.role !== 'system')
    return { ...request, messages: [...system, ...others.slice(-budget.messages)] }
  },
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, mode, request, budget } = JSON.parse(line)
  let answer
  try {
    answer = { request: await modes[mode](request, budget) }
  } catch (error) {
    answer = { error: { kind: error.name, message: String(error.message) } }
  }
  process.stdout.write(JSON.stringify({ id, ...answer }) + '\n')
}
