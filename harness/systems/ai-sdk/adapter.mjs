// Lets Brickbat drive the AI SDK: an ACP agent around streamText, used as an application uses it.
// The protocol on top of ACP is described in ../README.md.
import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { agent, ndJsonStream, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import * as ai from 'ai';
import { consumers } from './events.mjs';
import * as given from './given.mjs';
import { replay } from 'brickbat-adapter';

// Standard output belongs to the protocol.
console.log = console.info = console.debug = console.warn = console.error;
globalThis.AI_SDK_LOG_WARNINGS = false;

const { version } = createRequire(import.meta.url)('ai/package.json');
const MAJOR = Number(version.split('.')[0]);
// What is called differently from one version to the next.
const atMost = MAJOR >= 7 ? ai.isStepCount : ai.stepCountIs;
const [ENDED, STEP_ENDED] = MAJOR >= 7 ? ['onEnd', 'onStepEnd'] : ['onFinish', 'onStepFinish'];
const uiStream = (result, options) =>
  MAJOR >= 7 ? ai.toUIMessageStream({ stream: result.stream, ...options }) : result.toUIMessageStream(options);
// The handlers of the documentation. That of version 7 gives the text that the model gets of a tool that failed.
const onError = (error) => (MAJOR >= 7 ? String(error) : (error?.message ?? String(error)));
// Version 5 cannot ask the user, version 6 asks by the tool, and version 7 by the request.
const APPROVALS = MAJOR >= 6;
const onTool = ({ asks }) => (MAJOR === 6 && asks ? { needsApproval: true } : {});
const onRequest = (tools) => MAJOR < 7 ? {} : {
  toolApproval: Object.fromEntries(tools.filter(({ asks }) => asks).map(({ name }) => [name, 'user-approval'])),
};

/**
 * UI messages: what the end of the UI stream gives is stored, and that of each step where there is one, and converted
 * for the next request; `conversion` gives the options for a thread of which a turn has been stopped, or none has.
 * An answer to an approval is written into its part as `addToolApprovalResponse` does, as soon as it is given.
 */
const uiMessages = (conversion) => ({
  said: (text, n) => ({ id: `user-${n}`, role: 'user', parts: [{ type: 'text', text }] }),
  given: given.uiMessages,
  restored: (stored, wasStopped) => ai.convertToModelMessages(stored, conversion(wasStopped)),
  streamHooks: (stored, keep) => ({
    originalMessages: stored,
    generateMessageId: () => `assistant-${stored.length}`,
    [ENDED]: ({ messages }) => keep(messages),
    // Before version 7 the UI stream of a result tells of no steps.
    ...(MAJOR >= 7 && { [STEP_ENDED]: ({ messages }) => keep(messages) }),
  }),
  // As `addToolOutput` does, with the result of each call as it comes.
  handedIn: (stored, { toolCallId, kind, text }) => stored.map((message) => ({
    ...message,
    parts: message.parts.map((part) => part.toolCallId !== toolCallId ? part : kind === 'return'
      ? { ...part, state: 'output-available', output: text } : { ...part, state: 'output-error', errorText: text }),
  })),
  answered: (stored, answers) => stored.map((message) => ({
    ...message,
    parts: message.parts.map((part) => {
      const answer = part.state === 'approval-requested' && answers.find(({ id }) => id === part.approval.id);
      return answer ? { ...part, state: 'approval-responded', approval: { ...part.approval, ...answer } } : part;
    }),
  })),
});

/**
 * Model messages: "add the response messages to your conversation history". They come with the end of each step, and
 * with that of streamText; up to version 6 a step's messages hold those of the steps before it. After a stop the end
 * need not come, and `onAbort` gives no more than the steps that were stored.
 * Answers to approvals are added when all have been given.
 */
const responseMessages = {
  said: (text) => ({ role: 'user', content: text }),
  given: given.modelMessages,
  restored: (stored) => stored,
  requestHooks: (stored, keep, written = []) => ({
    [ENDED]: ({ response, responseMessages }) => keep([...stored, ...(responseMessages ?? response.messages)]),
    [STEP_ENDED]: ({ response }) => {
      written = MAJOR >= 7 ? [...written, ...response.messages] : response.messages;
      return keep([...stored, ...written]);
    },
  }),
  handedIn: (stored, { toolCallId, toolName, kind, text }) => [...stored, {
    role: 'tool',
    content: [{
      type: 'tool-result', toolCallId, toolName,
      output: { type: kind === 'return' ? 'text' : 'error-text', value: text },
    }],
  }],
  answered: (stored, answers, nAsked) => answers.length < nAsked ? stored : [...stored, {
    role: 'tool',
    content: answers.map(({ id, approved }) => ({ type: 'tool-approval-response', approvalId: id, approved })),
  }],
};

const MODES = {
  // "Handling Cancellation" in the page on subagents, which `ai` has had since version 6: "To avoid errors about
  // incomplete tool calls in subsequent messages, use `convertToModelMessages` with `ignoreIncompleteToolCalls`".
  'ui-messages': uiMessages((wasStopped) => (MAJOR >= 6 && wasStopped ? { ignoreIncompleteToolCalls: true } : {})),
  'ui-messages-clean': uiMessages(() => ({ ignoreIncompleteToolCalls: true })),
  'response-messages': responseMessages,
};
const anthropic = ({ baseUrl }) => createAnthropic({ baseURL: `${baseUrl}/v1`, apiKey: 'test' });
const MODELS = {
  'anthropic-messages': (spec) => anthropic(spec)(spec.model ?? 'claude-haiku-4-5'),
  'openai-chat': ({ baseUrl, model = 'gpt-4.1' }) =>
    createOpenAI({ baseURL: `${baseUrl}/v1`, apiKey: 'test' }).chat(model),
  'openai-responses': ({ baseUrl, model = 'gpt-5' }) =>
    createOpenAI({ baseURL: `${baseUrl}/v1`, apiKey: 'test' }).responses(model),
  gemini: ({ baseUrl, model = 'gemini-3-pro-preview' }) =>
    createGoogleGenerativeAI({ baseURL: `${baseUrl}/v1beta`, apiKey: 'test' })(model),
};
// More steps than any scenario has; it bounds a system that never stops asking.
const MAX_STEPS = 20;

/** @typedef {{id: string, spec: any, model: any, tools: any, file: string, stop?: AbortController}} Session */
/** @type {Map<string, Session>} */
const sessions = new Map();

/** A tool is one request to its gate, which answers when the harness lets the tool end. */
const gated = ({ description, inputSchema, gateUrl, deaf, asks, client }) =>
  ai.tool({
    description,
    inputSchema: ai.jsonSchema(inputSchema),
    ...onTool({ asks }),
    // "Client-side tools" have no `execute`: the request ends, and whoever reads its stream runs them.
    execute: client ? undefined : async (input, { abortSignal }) => {
      const signal = deaf ? undefined : abortSignal;
      const answer = await fetch(gateUrl, { method: 'POST', body: JSON.stringify(input), signal });
      const { kind, text } = await answer.json();
      if (kind === 'return') return text;
      // The AI SDK knows one way for a tool to fail: it throws.
      throw Object.assign(new Error(text), { name: { error: 'ToolError', deny: 'Denied' }[kind] ?? 'Error' });
    },
  });

/** What the page of the user does with a call; nothing if the user stops before it has an answer. */
async function onPage({ spec, stop }, { toolCallId, toolName, input }) {
  const { gateUrl } = spec.tools.find(({ name }) => name === toolName);
  try {
    const answer = await fetch(gateUrl, { method: 'POST', body: JSON.stringify(input), signal: stop.signal });
    return { toolCallId, toolName, ...await answer.json() };
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
}

const fileOf = (spec, id) => join(spec.stateDir, `${id}.json`);

/** Writes a history into the store of a session that nobody has opened yet. */
async function give(spec, history) {
  const id = randomUUID();
  const { given, said } = MODES[spec.mode];
  await save({ file: fileOf(spec, id) }, given(history, said));
  return id;
}

function open(spec, id = randomUUID()) {
  if (spec?.protocol !== 1) throw RequestError.invalidParams(undefined, 'expected _meta.brickbat of protocol 1');
  if (!MODES[spec.mode] || !MODELS[spec.dialect]) {
    throw RequestError.invalidParams(undefined, `no mode ${spec.mode} or no dialect ${spec.dialect}`);
  }
  const tools = Object.fromEntries(spec.tools.map((given) => [given.name, gated(given)]));
  // The tool that the provider runs itself, under the name of the documentation.
  if (spec.search && spec.dialect === 'anthropic-messages') {
    tools.web_search = anthropic(spec).tools.webSearch_20250305({ maxUses: 5 });
  }
  sessions.set(id, { id, spec, model: MODELS[spec.dialect](spec), tools, file: fileOf(spec, id) });
  return id;
}

/** The thread goes on with a model of another provider: the application names one with each request. */
function goOver({ sessionId, action: { change: { dialect } } }) {
  const { model, ...spec } = session({ sessionId }).spec;
  open({ ...spec, dialect }, sessionId);
  return {};
}

function session({ sessionId }) {
  const found = sessions.get(sessionId);
  if (!found) throw RequestError.invalidParams(undefined, `no session ${sessionId}`);
  return found;
}

// Before its first turn a session has no file.
const missing = (error) => { if (error.code === 'ENOENT') return '[]'; throw error; };
/** That the user has stopped a turn is a field of the thread in the application's database. */
const stoppedMark = ({ file }) => `${file}.stopped`;
const wasStopped = (session) => existsSync(stoppedMark(session));
function stop(session) {
  if (session.stop) writeFileSync(stoppedMark(session), '');
  session.stop?.abort();
}
const load = async ({ file }) => JSON.parse(await readFile(file, 'utf8').catch(missing));
// In one step, as a database would: a process may be killed while it writes.
const save = ({ file }, messages) => writeFile(`${file}.new`, JSON.stringify(messages)).then(() => rename(`${file}.new`, file));

/** Runs a turn to its real end and says how it ended. `ask` puts an approval to the user. */
async function turn(session, text, show, ask) {
  const mode = MODES[session.spec.mode];
  session.stop = new AbortController();
  const stored = await load(session);
  await save(session, [...stored, mode.said(text, stored.length)]);
  for (;;) {
    const { outcome, approvals, handedOut } = await request(session, mode, show);
    if (outcome.kind !== 'returned' || approvals.length + handedOut.length === 0) return outcome;
    let handedIn = Promise.resolve();
    await Promise.all(handedOut.map(async (call) => {
      const result = await onPage(session, call);
      if (!result) return;
      handedIn = handedIn.then(async () => save(session, mode.handedIn(await load(session), result)));
      await handedIn;
      show({ type: result.kind === 'return' ? 'tool-output-available' : 'tool-output-error', toolCallId: call.toolCallId });
    }));
    const answers = (await Promise.all(approvals.map(ask))).filter((answer) => answer);
    if (approvals.length > 0) await save(session, mode.answered(await load(session), answers, approvals.length));
    // The SDK is at rest while the user is asked: here the application is the one that is stopped.
    if (session.stop.signal.aborted) return { kind: 'cancelled' };
  }
}

const INTERRUPTED = { kind: 'raised', class: 'interrupted', text: 'the finish reason is `interrupted`' };

/** One streamText from what is stored, and what the user has to be asked before it can go on. */
async function request(session, mode, show) {
  let cancelled = false;
  let interrupted = false;
  let raised;
  let saved = Promise.resolve();
  const approvals = [];
  const handedOut = [];
  const isClient = (name) => session.spec.tools.some((given) => given.name === name && given.client);
  const stored = await load(session);
  const keep = (messages) => (saved = saved.then(() => save(session, messages)));
  try {
    const result = ai.streamText({
      model: session.model,
      messages: await mode.restored(stored, wasStopped(session)),
      tools: session.tools,
      stopWhen: atMost(MAX_STEPS),
      abortSignal: session.stop.signal,
      onError: ({ error }) => { raised ??= error; },
      ...onRequest(session.spec.tools),
      ...mode.requestHooks?.(stored, keep),
    });
    for await (const chunk of uiStream(result, { onError, ...mode.streamHooks?.(stored, keep) })) {
      cancelled ||= chunk.type === 'abort';
      // "Check `finishReason === 'interrupted'` to detect incomplete responses", from 7.0.149 on.
      interrupted ||= chunk.type === 'finish' && chunk.finishReason === 'interrupted';
      if (chunk.type === 'tool-approval-request' && !chunk.isAutomatic) approvals.push(chunk);
      if (chunk.type === 'tool-input-available' && isClient(chunk.toolName)) handedOut.push(chunk);
      show(chunk);
    }
  } catch (error) {
    raised ??= error;
  }
  // What goes wrong with the store is no error of the SDK: it fails the request.
  await saved;
  // A stop may also surface as the signal's own error.
  if (session.stop.signal.aborted && raised?.name === 'AbortError') return { outcome: { kind: 'cancelled' } };
  if (!raised && interrupted) return { outcome: INTERRUPTED };
  if (!raised) return { outcome: { kind: cancelled ? 'cancelled' : 'returned' }, approvals, handedOut };
  return { outcome: { kind: 'raised', class: raised.name ?? typeof raised, text: raised.message ?? String(raised) } };
}

/** Halves of characters are no text that a line of JSON-RPC could carry. */
const wellFormed = (value) =>
  value && JSON.parse(JSON.stringify(value), (_, part) => (typeof part === 'string' ? part.toWellFormed() : part));

/** What the user of an application would see, as ACP says it. */
function shown({ type, toolCallId, toolName, delta, input }) {
  const call = (status, more) => ({ sessionUpdate: 'tool_call_update', toolCallId, status, ...more });
  switch (type) {
    case 'text-delta': return { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: delta } };
    case 'tool-input-start': return { ...call('pending'), sessionUpdate: 'tool_call', title: toolName };
    case 'tool-input-available': return call('in_progress', { rawInput: wellFormed(input) });
    case 'tool-approval-request': return call('pending');
    case 'tool-output-available': return call('completed');
    case 'tool-output-denied':
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

const OPTIONS = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];
const asIs = (params) => params;
agent({ name: 'brickbat-ai-sdk' })
  .onRequest('initialize', () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentCapabilities: { loadSession: true },
    _meta: { brickbat: {
      protocol: 1,
      sdk: 'ai',
      version,
      modes: Object.keys(MODES),
      consumers: Object.keys(consumers),
      capabilities: {
        cancel: true, streaming: true, eagerTools: false, barrier: true, history: true, load: true, approvals: APPROVALS,
        givenHistory: true, sharedSession: true, clientTools: true, serverTools: MAJOR >= 7, changes: { provider: true },
      },
    } },
  }))
  .onRequest('session/new', ({ params }) => ({ sessionId: open(params._meta?.brickbat) }))
  // A session is its file: whoever has the id goes on with what the dead process had stored.
  .onRequest('session/load', ({ params }) => { open(params._meta?.brickbat, params.sessionId); return {}; })
  .onRequest('session/prompt', async ({ params, client }) => {
    const { sessionId, prompt } = params;
    const show = (chunk) => {
      const update = shown(chunk);
      // A harness that is gone needs no update.
      if (update) client.notify('session/update', { sessionId, update }).catch(() => {});
    };
    const ask = async ({ approvalId, toolCallId }) => {
      const question = { sessionId, toolCall: { toolCallId }, options: OPTIONS };
      const { outcome } = await client.request('session/request_permission', question);
      // After a stop the answer is none.
      return outcome.outcome === 'selected' ? { id: approvalId, approved: outcome.optionId === 'yes' } : undefined;
    };
    const text = prompt.map((block) => block.text).join('');
    const outcome = await turn(session(params), text, show, ask);
    return { stopReason: outcome.kind === 'cancelled' ? 'cancelled' : 'end_turn', _meta: { brickbat: { outcome } } };
  })
  .onNotification('session/cancel', ({ params }) => stop(session(params)))
  .onRequest('_brickbat/barrier', asIs, () => barrier().then(() => ({})))
  .onRequest('_brickbat/give', asIs, async ({ params }) => ({ sessionId: await give(params.session, params.history) }))
  .onRequest('_brickbat/action', asIs, ({ params }) => goOver(params))
  .onRequest('_brickbat/history', asIs, async ({ params }) => ({ history: await load(session(params)) }))
  .onRequest('_brickbat/events', asIs, ({ params }) => replay(consumers, params))
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)))
  // The harness is gone: so is the reason to live, whatever tools still wait.
  .closed.then(() => process.exit());
