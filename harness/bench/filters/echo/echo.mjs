// The floor of a driver in Node.js: one line in is one question, one line out the request in it.
import { createInterface } from 'node:readline'

for await (const line of createInterface({ input: process.stdin })) {
  const { id, request } = JSON.parse(line)
  process.stdout.write(JSON.stringify({ id, request }) + '\n')
}
