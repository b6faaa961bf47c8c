// The floor for a driver in Node.js: each input line is a question, and each output line is the request in
// it.
import { createInterface } from 'node:readline'

for await (const line of createInterface({ input: process.stdin })) {
  const { id, request } = JSON.parse(line)
  process.stdout.write(JSON.stringify({ id, request }) + '\n')
}
