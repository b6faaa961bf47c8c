// Speaks Brickbat's protocol for the driver of a filter. It is independent of the filter.
import { createInterface } from 'node:readline'

// The protocol uses standard output.
const write = process.stdout.write.bind(process.stdout)
process.stdout.write = process.stderr.write.bind(process.stderr)

/**
 * Answers each question with `answer(question)`, an object or a promise of one: `request`, the body, and optionally `notes`
 * and `size`; `error`; or `unsupported`. An exception is an error of the filter.
 */
export async function serve(answer) {
  for await (const line of createInterface({ input: process.stdin })) {
    const asked = JSON.parse(line)
    let told
    try {
      told = await answer(asked)
    } catch ({ name: kind, message }) {
      told = { error: { kind, message: String(message) } }
    }
    write(JSON.stringify({ id: asked.id, ...told }) + '\n')
  }
  // A server inside the filter would keep the process alive. Exit when everything is written.
  write('', () => process.exit())
}
