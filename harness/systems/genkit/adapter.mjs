// Lets Brickbat drive a Genkit agent, the way an application uses it. See README.md.
import { readFileSync } from 'node:fs';
import { openAICompatible } from '@genkit-ai/compat-oai';
import { googleAI } from '@genkit-ai/google-genai';
import { FileSessionStore, genkit } from 'genkit/beta';
import { gate, serve } from 'brickbat-adapter';

const root = new URL('../package.json', import.meta.resolve('genkit'));
const { version } = JSON.parse(readFileSync(root, 'utf8'));
// More rounds of tools than any scenario has. The SDK's default is 5.
const MAX_TURNS = 20;

/** The plugin of each dialect, and the model's name in it. */
const MODELS = {
  'openai-chat': ({ baseUrl, model }) => [
    openAICompatible({ name: 'openai', apiKey: 'none', baseURL: `${baseUrl}/v1` }), `openai/${model ?? 'gpt-4.1'}`,
  ],
  gemini: ({ baseUrl, model }) => [
    googleAI({ apiKey: 'none', baseUrl }), `googleai/${model ?? 'gemini-3-pro-preview'}`,
  ],
};

/** A tool reports an error in its text, because a tool response has no error field. */
async function run(given, input) {
  try {
    return await gate(given, input);
  } catch (error) {
    if (error.kind === 'error' || error.kind === 'deny') return `Error: ${error.message}`;
    throw error;
  }
}

/** The SDK passes tools no stop signal: it awaits a call that runs when the user stops the turn. */
const gated = (ai, given) => ai.defineTool(
  { name: given.name, description: given.description, inputJsonSchema: given.inputSchema },
  (input) => run(given, input),
);

/** The agent of a session, with the SDK's own store in the session's folder. */
function agentOf(session) {
  session.agent ??= define(session.spec);
  return session.agent;
}

function define(spec) {
  const [plugin, model] = MODELS[spec.dialect](spec);
  const ai = genkit({ plugins: [plugin] });
  return ai.defineAgent({
    name: 'assistant',
    model,
    tools: spec.tools.map((given) => gated(ai, given)),
    maxTurns: MAX_TURNS,
    store: new FileSessionStore(spec.stateDir),
  });
}

/** @type {import('brickbat-adapter').Turn} */
async function turn(session, text, abortSignal, show) {
  try {
    const { stream, response } = agentOf(session).chat({ sessionId: session.id }).sendStream(text, { abortSignal });
    for await (const { raw } of stream) {
      // The SDK reports no state for a running call.
      for (const { toolResponse: done } of raw.modelChunk?.content ?? []) if (done) show(done.ref, 'completed', done.name);
    }
    return { cancelled: (await response).finishReason === 'aborted' };
  } catch (raised) {
    return { raised };
  }
}

const stored = async (session) =>
  (await agentOf(session).getSnapshot({ sessionId: session.id }))?.state?.messages ?? [];

serve({ sdk: 'genkit', version, modes: ['file'] }, Object.keys(MODELS), turn,
  { stored, capabilities: { sharedSession: true } });
