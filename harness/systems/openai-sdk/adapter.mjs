// Lets Brickbat drive `runTools` of OpenAI's SDK for JavaScript.
import OpenAI, { APIUserAbortError } from 'openai';
import { VERSION as version } from 'openai/version';
import { gate, serve } from 'brickbat-adapter';

// More steps than any scenario has. The SDK's default is 10.
const MAX_STEPS = 20;
// The runner's messages are the conversation. They are stored after each step, when the loop has ended without an error
// and, except in `steps`, when it has failed.
const MODES = { finished: {}, steps: { dropsFailed: true } };

/** A tool reports an error in its text, because a tool message has no error field. */
async function run(given, input, signal) {
  try {
    return await gate(given, input, signal);
  } catch (error) {
    if (error.kind === 'error' || error.kind === 'deny') return `Error: ${error.message}`;
    throw error;
  }
}

const gated = (given) => ({
  type: 'function',
  function: {
    name: given.name,
    description: given.description,
    parameters: given.inputSchema,
    parse: JSON.parse,
    function: (input, runner) => run(given, input, runner.controller.signal),
  },
});

/** @type {import('brickbat-adapter').Turn} */
async function turn({ spec, store }, text, signal, show) {
  const messages = [...store.load([]), { role: 'user', content: text }];
  store.save(messages);
  const client = new OpenAI({ baseURL: `${spec.baseUrl}/v1`, apiKey: 'none' });
  const keep = () => store.save(runner.messages);
  const runner = client.chat.completions.runTools({
    model: spec.model ?? 'gpt-4.1',
    messages,
    tools: spec.tools.map(gated),
    stream: true,
  }, { signal, maxChatCompletions: spec.maxSteps ?? MAX_STEPS, afterCompletion: keep });
  // The SDK reports no state for a call, so nothing is shown before the result.
  runner.on('message', ({ role, tool_call_id: id }) => role === 'tool' && show(id, 'completed'));
  try {
    await runner.done();
    keep();
    return {};
  } catch (raised) {
    if (!MODES[spec.mode].dropsFailed) keep();
    if (raised instanceof APIUserAbortError) return { cancelled: true };
    // Errors of this SDK differ by class only: they all have the same name.
    return { raised: { name: raised.constructor.name, message: raised.message } };
  }
}

serve({ sdk: 'openai', version, modes: Object.keys(MODES) }, ['openai-chat'], turn,
  { capabilities: { sharedSession: true, stepLimit: true } });
