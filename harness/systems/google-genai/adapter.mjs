// Lets Brickbat drive the chats of Google's Gen AI SDK, with the SDK's own loop over tools or the application's.
import { readFileSync } from 'node:fs';
import { GoogleGenAI } from '@google/genai';
import { gate, serve } from 'brickbat-adapter';

// The package does not export its package.json.
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.resolve('@google/genai'))));
// More steps than any scenario has. The SDK's default is 10.
const MAX_STEPS = 20;

/**
 * Runs a tool. A failure becomes an error response of the API, except after a stop and, if the SDK handles exceptions, for
 * a tool that throws. The SDK reports no state for a call, so none is shown.
 */
async function responseOf({ id, name, args }, { spec, signal, throws }) {
  const ended = (response) => ({ functionResponse: { id, name, response } });
  const tool = spec.tools.find((one) => one.name === name);
  if (!tool) return ended({ error: `there is no tool ${name}` });
  try {
    return ended({ output: await gate(tool, args, signal) });
  } catch (error) {
    if (signal.aborted || (throws && error.kind === 'throw')) throw error;
    return ended({ error: error.message });
  }
}

/**
 * Runs the tools of a reply in parallel. If one of them throws, the error is thrown after all have ended. After a stop they
 * are not awaited.
 */
async function responses(calls, run) {
  const ended = await Promise.race([run.stopped, Promise.allSettled(calls.map((call) => responseOf(call, run)))]);
  const thrown = ended.find(({ status }) => status === 'rejected');
  if (thrown) throw thrown.reason;
  return ended.map(({ value }) => value);
}
const declarations = ({ tools }) => tools.map(({ name, description, inputSchema }) =>
  ({ name, description, parametersJsonSchema: inputSchema }));

const LOOPS = {
  /** Automatic function calling: the SDK runs the tools and continues until the model calls none. */
  automatic: {
    config(run) {
      const functionDeclarations = declarations(run.spec);
      const callable = { tool: async () => ({ functionDeclarations }), callTool: (calls) => responses(calls, { ...run, throws: true }) };
      return { tools: [callable], automaticFunctionCalling: { maximumRemoteCalls: MAX_STEPS } };
    },
    next: () => undefined,
  },
  /** The application runs the tools of a reply and sends their results as its next message. */
  manual: {
    config: ({ spec }) => ({ tools: [{ functionDeclarations: declarations(spec) }] }),
    next: (functionCalls, run) => functionCalls.length > 0 && responses(functionCalls, run),
  },
};

/** Ways to send a message. Each returns the calls of the reply. */
const SENDERS = {
  complete: async (chat, message) => (await chat.sendMessage({ message })).functionCalls ?? [],
  async streamed(chat, message) {
    const calls = [];
    for await (const piece of await chat.sendMessageStream({ message })) calls.push(...(piece.functionCalls ?? []));
    return calls;
  },
};

const MODES = {
  automatic: { ...LOOPS.automatic, send: SENDERS.complete },
  manual: { ...LOOPS.manual, send: SENDERS.complete },
  'automatic-streamed': { ...LOOPS.automatic, send: SENDERS.streamed },
  'manual-streamed': { ...LOOPS.manual, send: SENDERS.streamed },
};

/** @type {import('brickbat-adapter').Turn} */
async function turn({ spec, store }, text, signal) {
  const { config, next, send } = MODES[spec.mode];
  const stopped = new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  // If a turn is stopped while no tool runs, nothing awaits this promise.
  stopped.catch(() => {});
  const run = { spec, signal, stopped };
  const ai = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: spec.baseUrl } });
  const before = store.load([]);
  const chat = ai.chats.create({
    model: spec.model ?? 'gemini-3-flash-preview',
    config: { ...config(run), abortSignal: signal },
    history: before,
  });
  // The chat records a message when its reply arrives. Until then the application stores the user's message itself.
  store.save([...before, { role: 'user', parts: [{ text }] }]);
  let message = text;
  try {
    for (let steps = 0; message && steps < MAX_STEPS; steps++) {
      message = await next(await send(chat, message), run);
    }
  } catch (raised) {
    return signal.aborted ? { cancelled: true } : { raised };
  } finally {
    const history = chat.getHistory();
    if (history.length > before.length) store.save(history);
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

const capabilities = { history: true, sharedSession: true };
serve({ sdk: '@google/genai', version, modes: Object.keys(MODES) }, ['gemini'], turn, { capabilities, give });
