// Lets Brickbat drive the chats of Google's Gen AI SDK, with the SDK's own loop over tools or the application's.
import { readFileSync } from 'node:fs';
import { GoogleGenAI } from '@google/genai';
import { gate, serve } from './protocol.mjs';

// The package does not export its package.json.
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.resolve('@google/genai'))));
// More steps than any scenario has; the SDK's own default is 10.
const MAX_STEPS = 20;

/** Runs a tool. What it fails with is a response as the API has it; after a stop there is none. */
async function responseOf({ id, name, args }, { spec, signal, show }) {
  // The API may leave ids out, and then there is nothing to show a call by.
  const tell = (state) => id === undefined || show(id, state, name);
  const ended = (state, response) => {
    tell(state);
    return { functionResponse: { id, name, response } };
  };
  const tool = spec.tools.find((one) => one.name === name);
  tell('in_progress');
  if (!tool) return ended('failed', { error: `there is no tool ${name}` });
  try {
    return ended('completed', { output: await gate(tool, args, signal) });
  } catch (error) {
    if (signal.aborted) throw error;
    return ended('failed', { error: error.message });
  }
}

/** Runs the tools of a reply, all at once. */
const responses = (calls, run) => Promise.all(calls.map((call) => responseOf(call, run)));
const declarations = ({ tools }) => tools.map(({ name, description, inputSchema }) =>
  ({ name, description, parametersJsonSchema: inputSchema }));

const MODES = {
  /** Automatic function calling: the SDK has the tools run, and goes on until the model calls none. */
  automatic: {
    config(run) {
      const functionDeclarations = declarations(run.spec);
      const callable = { tool: async () => ({ functionDeclarations }), callTool: (calls) => responses(calls, run) };
      return { tools: [callable], automaticFunctionCalling: { maximumRemoteCalls: MAX_STEPS } };
    },
    next: () => undefined,
  },
  /** The application has the tools of a reply run, and sends what they return as its next message. */
  manual: {
    config: ({ spec }) => ({ tools: [{ functionDeclarations: declarations(spec) }] }),
    next: ({ functionCalls }, run) => functionCalls && responses(functionCalls, run),
  },
};

/** @type {import('./protocol.mjs').Turn} */
async function turn({ spec, store }, text, signal, show) {
  const { config, next } = MODES[spec.mode];
  const run = { spec, signal, show };
  const ai = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: spec.baseUrl } });
  const chat = ai.chats.create({
    model: spec.model ?? 'gemini-2.5-flash',
    config: { ...config(run), abortSignal: signal },
    history: store.load([]),
  });
  let message = text;
  try {
    for (let steps = 0; message && steps < MAX_STEPS; steps++) {
      message = await next(await chat.sendMessage({ message }), run);
    }
  } catch (raised) {
    return signal.aborted ? { cancelled: true } : { raised };
  } finally {
    store.save(chat.getHistory());
  }
  return { cancelled: signal.aborted };
}

/** A given history as the contents of a request. */
function give(history) {
  const calls = history.flatMap(({ assistant = [] }) => assistant).flatMap(({ call }) => call ?? []);
  const nameOf = (id) => calls.find((call) => call.id === id)?.tool;
  const said = ({ text, call }) =>
    text === undefined ? { functionCall: { id: call.id, name: call.tool, args: call.args } } : { text };
  const done = ({ id, text, isError }) =>
    ({ functionResponse: { id, name: nameOf(id), response: isError ? { error: text } : { output: text } } });
  return history.map(({ user, assistant, results }) => {
    if (user !== undefined) return { role: 'user', parts: [{ text: user }] };
    return assistant ? { role: 'model', parts: assistant.map(said) } : { role: 'user', parts: results.map(done) };
  });
}

const capabilities = { streaming: false, history: true, sharedSession: true };
serve({ sdk: '@google/genai', version, modes: Object.keys(MODES) }, ['gemini'], turn, { capabilities, give });
