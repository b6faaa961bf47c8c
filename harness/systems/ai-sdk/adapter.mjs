// Lets Brickbat drive the AI SDK: an ACP agent around streamText, used as an application uses it.
// The protocol on top of ACP is described in ../README.md.
import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { agent, ndJsonStream, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { convertToModelMessages, jsonSchema, stepCountIs, streamText, tool } from 'ai';

// Standard output belongs to the protocol.
console.log = console.info = console.debug = console.warn = console.error;
globalThis.AI_SDK_LOG_WARNINGS = false;

const MODES = {
  'ui-messages': {},
  'ui-messages-clean': { ignoreIncompleteToolCalls: true },
};
const MODELS = {
  'anthropic-messages': ({ baseUrl, model = 'claude-haiku-4-5' }) =>
    createAnthropic({ baseURL: `${baseUrl}/v1`, apiKey: 'test' })(model),
  'openai-chat': ({ baseUrl, model = 'gpt-4.1' }) =>
    createOpenAI({ baseURL: `${baseUrl}/v1`, apiKey: 'test' }).chat(model),
};
// More steps than any scenario has; it bounds a system that never stops asking.
const MAX_STEPS = 20;

/** @typedef {{id: string, spec: any, model: any, tools: any, file: string, stop?: AbortController}} Session */
/** @type {Map<string, Session>} */
const sessions = new Map();

/** A tool is one request to its gate, which answers when the harness lets the tool end. */
const gated = ({ description, inputSchema, gateUrl, deaf }) =>
  tool({
    description,
    inputSchema: jsonSchema(inputSchema),
    async execute(input, { abortSignal }) {
      const signal = deaf ? undefined : abortSignal;
      const answer = await fetch(gateUrl, { method: 'POST', body: JSON.stringify(input), signal });
      const { kind, text } = await answer.json();
      if (kind === 'return') return text;
      // The AI SDK knows one way for a tool to fail: it throws.
      throw Object.assign(new Error(text), { name: { error: 'ToolError', deny: 'Denied' }[kind] ?? 'Error' });
    },
  });

function open(spec, id = randomUUID()) {
  if (spec?.protocol !== 1) throw RequestError.invalidParams(undefined, 'expected _meta.brickbat of protocol 1');
  if (!MODES[spec.mode] || !MODELS[spec.dialect]) {
    throw RequestError.invalidParams(undefined, `no mode ${spec.mode} or no dialect ${spec.dialect}`);
  }
  const tools = Object.fromEntries(spec.tools.map((given) => [given.name, gated(given)]));
  const file = join(spec.stateDir, `${id}.json`);
  sessions.set(id, { id, spec, model: MODELS[spec.dialect](spec), tools, file });
  return id;
}

function session({ sessionId }) {
  const found = sessions.get(sessionId);
  if (!found) throw RequestError.invalidParams(undefined, `no session ${sessionId}`);
  return found;
}

// Before its first turn a session has no file.
const missing = (error) => { if (error.code === 'ENOENT') return '[]'; throw error; };
const load = async ({ file }) => JSON.parse(await readFile(file, 'utf8').catch(missing));
// In one step, as a database would: a process may be killed while it writes.
const save = ({ file }, messages) => writeFile(`${file}.new`, JSON.stringify(messages)).then(() => rename(`${file}.new`, file));

/** Runs a turn to its real end and says how it ended. */
async function turn(session, text, show) {
  session.stop = new AbortController();
  let cancelled = false;
  let raised;
  let unsaved;
  // What goes wrong with the store is no error of the SDK: it fails the request.
  const messages = await load(session);
  messages.push({ id: `user-${messages.length}`, role: 'user', parts: [{ type: 'text', text }] });
  await save(session, messages);
  try {
    const result = streamText({
      model: session.model,
      messages: await convertToModelMessages(messages, MODES[session.spec.mode]),
      tools: session.tools,
      stopWhen: stepCountIs(MAX_STEPS),
      abortSignal: session.stop.signal,
      onError: ({ error }) => { raised ??= error; },
    });
    const stream = result.toUIMessageStream({
      originalMessages: messages,
      generateMessageId: () => `assistant-${messages.length}`,
      onError: (error) => error?.message ?? String(error),
      onFinish: async ({ messages, isAborted }) => {
        cancelled = isAborted;
        await save(session, messages).catch((error) => { unsaved = error; });
      },
    });
    for await (const chunk of stream) show(chunk);
  } catch (error) {
    raised ??= error;
  }
  if (unsaved) throw unsaved;
  // A stop may also surface as the signal's own error.
  if (session.stop.signal.aborted && raised?.name === 'AbortError') return { kind: 'cancelled' };
  if (raised) return { kind: 'raised', class: raised.name ?? typeof raised, text: raised.message ?? String(raised) };
  return { kind: cancelled ? 'cancelled' : 'returned' };
}

/** What the user of an application would see, as ACP says it. */
function shown({ type, toolCallId, toolName, delta, input }) {
  const call = (status, more) => ({ sessionUpdate: 'tool_call_update', toolCallId, status, ...more });
  switch (type) {
    case 'text-delta': return { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: delta } };
    case 'tool-input-start': return { ...call('pending'), sessionUpdate: 'tool_call', title: toolName };
    case 'tool-input-available': return call('in_progress', { rawInput: input });
    case 'tool-output-available': return call('completed');
    case 'tool-input-error':
    case 'tool-output-error': return call('failed');
  }
}

// A byte that has left the socket may still have to pass the decoder and the SDK's chain of streams. Promises settle
// before the event loop moves on, and a stage that takes a turn of the loop takes one: after as many turns as there
// could be stages nothing is left on the way. Measured: 0 turns were enough for 900 of 900 half streams.
const LOOP_TURNS = 16;
async function barrier() {
  for (let i = 0; i < LOOP_TURNS; i++) await new Promise((resolve) => setImmediate(resolve));
}

const asIs = (params) => params;
agent({ name: 'brickbat-ai-sdk' })
  .onRequest('initialize', () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentCapabilities: { loadSession: true },
    _meta: { brickbat: {
      protocol: 1,
      sdk: 'ai',
      version: createRequire(import.meta.url)('ai/package.json').version,
      modes: Object.keys(MODES),
      capabilities: { cancel: true, streaming: true, eagerTools: false, barrier: true, history: true, load: true },
    } },
  }))
  .onRequest('session/new', ({ params }) => ({ sessionId: open(params._meta?.brickbat) }))
  // A session is its file: whoever has the id goes on with what the dead process had stored.
  .onRequest('session/load', ({ params }) => { open(params._meta?.brickbat, params.sessionId); return {}; })
  .onRequest('session/prompt', async ({ params, client }) => {
    const { sessionId, prompt } = params;
    const outcome = await turn(session(params), prompt.map((block) => block.text).join(''), (chunk) => {
      const update = shown(chunk);
      // A harness that is gone needs no update.
      if (update) client.notify('session/update', { sessionId, update }).catch(() => {});
    });
    return { stopReason: outcome.kind === 'cancelled' ? 'cancelled' : 'end_turn', _meta: { brickbat: { outcome } } };
  })
  .onNotification('session/cancel', ({ params }) => session(params).stop?.abort())
  .onRequest('_brickbat/barrier', asIs, () => barrier().then(() => ({})))
  .onRequest('_brickbat/history', asIs, async ({ params }) => ({ history: await load(session(params)) }))
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)))
  // The harness is gone: so is the reason to live, whatever tools still wait.
  .closed.then(() => process.exit());
