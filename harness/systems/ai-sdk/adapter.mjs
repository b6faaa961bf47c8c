// Lets Brickbat drive the AI SDK: an ACP agent that calls streamText the way an application does.
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

// The protocol uses standard output.
console.log = console.info = console.debug = console.warn = console.error;
globalThis.AI_SDK_LOG_WARNINGS = false;

const { version } = createRequire(import.meta.url)('ai/package.json');
const MAJOR = Number(version.split('.')[0]);
// Names that differ between versions.
const atMost = MAJOR >= 7 ? ai.isStepCount : ai.stepCountIs;
const [ENDED, STEP_ENDED] = MAJOR >= 7 ? ['onEnd', 'onStepEnd'] : ['onFinish', 'onStepFinish'];
const uiStream = (result, options) =>
  MAJOR >= 7 ? ai.toUIMessageStream({ stream: result.stream, ...options }) : result.toUIMessageStream(options);
// The error handlers of the documentation. In version 7 the handler returns the text of a failed tool that the model sees.
const onError = (error) => (MAJOR >= 7 ? String(error) : (error?.message ?? String(error)));
// Version 5 cannot ask the user. Version 6 declares approval on the tool, version 7 on the request.
const APPROVALS = MAJOR >= 6;
const onTool = ({ asks }) => (MAJOR === 6 && asks ? { needsApproval: true } : {});
const onRequest = (tools) => MAJOR < 7 ? {} : {
  toolApproval: Object.fromEntries(tools.filter(({ asks }) => asks).map(({ name }) => [name, 'user-approval'])),
};

/**
 * UI messages: the messages from the end of the UI stream, and of each step if the SDK reports steps, are stored and
 * converted for the next request. `conversion` returns the options; they can depend on whether a turn was stopped.
 * Each answer to an approval is written into its part at once, as `addToolApprovalResponse` does.
 */
const uiMessages = (conversion) => ({
  said: (text, n) => ({ id: `user-${n}`, role: 'user', parts: [{ type: 'text', text }] }),
  given: given.uiMessages,
  restored: (stored, wasStopped) => ai.convertToModelMessages(stored, conversion(wasStopped)),
  streamHooks: (stored, keep) => ({
    originalMessages: stored,
    generateMessageId: () => `assistant-${stored.length}`,
    [ENDED]: ({ messages }) => keep(messages),
    // Before version 7, the UI stream of a result reports no steps.
    ...(MAJOR >= 7 && { [STEP_ENDED]: ({ messages }) => keep(messages) }),
  }),
  // As `addToolOutput` does for each result on arrival.
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
 * Model messages: "add the response messages to your conversation history". They arrive at the end of each step and of
 * streamText. Up to version 6, a step's messages include those of earlier steps. After a stop the end may never come,
 * and `onAbort` reports only the steps already stored.
 * Answers to approvals are added once all have been given.
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
// More steps than any scenario has. It bounds a system that never stops calling the model.
const MAX_STEPS = 20;

/** @typedef {{id: string, spec: any, model: any, tools: any, file: string, stop?: AbortController}} Session */
/** @type {Map<string, Session>} */
const sessions = new Map();

/** Tools whose body is one request to their gate. The reply arrives when the harness lets the tool end. */
const gated = ({ description, inputSchema, gateUrl, deaf, asks, client }) =>
  ai.tool({
    description,
    inputSchema: ai.jsonSchema(inputSchema),
    ...onTool({ asks }),
    // "Client-side tools" have no `execute`: the request ends, and the reader of its stream runs them.
    execute: client ? undefined : async (input, { abortSignal }) => {
      const signal = deaf ? undefined : abortSignal;
      const answer = await fetch(gateUrl, { method: 'POST', body: JSON.stringify(input), signal });
      const { kind, text } = await answer.json();
      if (kind === 'return') return text;
      // In the AI SDK, a tool can fail only by throwing.
      throw Object.assign(new Error(text), { name: { error: 'ToolError', deny: 'Denied' }[kind] ?? 'Error' });
    },
  });

/** Runs a call in the user's page. Returns nothing if the user stops before the result. */
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

/** Writes a history into the store of a session that is not open yet. */
async function give(spec, history) {
  const id = randomUUID();
  const { given, said } = MODES[spec.mode];
  await save({ file: fileOf(spec, id) }, given(history, said));
  return id;
}

function open(spec, id = randomUUID()) {
  if (spec?.protocol !== 1) throw RequestError.invalidParams(undefined, 'expected _meta.brickbat with protocol 1');
  if (!MODES[spec.mode] || !MODELS[spec.dialect]) {
    throw RequestError.invalidParams(undefined, `unknown mode ${spec.mode} or unknown dialect ${spec.dialect}`);
  }
  const tools = Object.fromEntries(spec.tools.map((given) => [given.name, gated(given)]));
  // The provider's own web search tool, under its documented name.
  if (spec.search && spec.dialect === 'anthropic-messages') {
    tools.web_search = anthropic(spec).tools.webSearch_20250305({ maxUses: 5 });
  }
  sessions.set(id, { id, spec, model: MODELS[spec.dialect](spec), tools, file: fileOf(spec, id) });
  return id;
}

/** Continues the thread with a model of another provider. The application names a model in each request. */
function goOver({ sessionId, action: { change: { dialect } } }) {
  const { model, ...spec } = session({ sessionId }).spec;
  open({ ...spec, dialect }, sessionId);
  return {};
}

function session({ sessionId }) {
  const found = sessions.get(sessionId);
  if (!found) throw RequestError.invalidParams(undefined, `unknown session ${sessionId}`);
  return found;
}

// A session has no file before its first turn.
const missing = (error) => { if (error.code === 'ENOENT') return '[]'; throw error; };
/** Marks that the user has stopped a turn, which an application would record in its database. */
const stoppedMark = ({ file }) => `${file}.stopped`;
const wasStopped = (session) => existsSync(stoppedMark(session));
function stop(session) {
  if (session.stop) writeFileSync(stoppedMark(session), '');
  session.stop?.abort();
}
const load = async ({ file }) => JSON.parse(await readFile(file, 'utf8').catch(missing));
// Written atomically, as in a database: the process may be killed during the write.
const save = ({ file }, messages) => writeFile(`${file}.new`, JSON.stringify(messages)).then(() => rename(`${file}.new`, file));

/** Runs a turn until all its work has ended and returns its outcome. `ask` requests the user's approval. */
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
    // The SDK is idle while the user is asked, so the stop reaches only the application.
    if (session.stop.signal.aborted) return { kind: 'cancelled' };
  }
}

const INTERRUPTED = { kind: 'raised', class: 'interrupted', text: 'the finish reason is `interrupted`' };

/** Runs one streamText on the stored messages. Returns what the user must answer before the next one. */
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
      // From 7.0.149 on: "Check `finishReason === 'interrupted'` to detect incomplete responses".
      interrupted ||= chunk.type === 'finish' && chunk.finishReason === 'interrupted';
      if (chunk.type === 'tool-approval-request' && !chunk.isAutomatic) approvals.push(chunk);
      if (chunk.type === 'tool-input-available' && isClient(chunk.toolName)) handedOut.push(chunk);
      show(chunk);
    }
  } catch (error) {
    raised ??= error;
  }
  // A store error fails the request, because it is not an error of the SDK.
  await saved;
  // A stop can also surface as the signal's own error.
  if (session.stop.signal.aborted && raised?.name === 'AbortError') return { outcome: { kind: 'cancelled' } };
  if (!raised && interrupted) return { outcome: INTERRUPTED };
  if (!raised) return { outcome: { kind: cancelled ? 'cancelled' : 'returned' }, approvals, handedOut };
  return { outcome: { kind: 'raised', class: raised.name ?? typeof raised, text: raised.message ?? String(raised) } };
}

/** Replaces lone surrogates, which JSON-RPC cannot carry. */
const wellFormed = (value) =>
  value && JSON.parse(JSON.stringify(value), (_, part) => (typeof part === 'string' ? part.toWellFormed() : part));

/** Sends the state that a user of the application would see as an ACP update. */
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

// A byte that has left the socket may still be in the decoder or in the SDK's chain of streams. Promises settle before
// the event loop moves on, and each stage takes at most one turn of the loop. After as many turns as there can be
// stages, everything has arrived. Measured: 0 turns were enough for 900 of 900 half streams.
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
  // A session is its file: a new process with the id continues from whatever the dead process had stored.
  .onRequest('session/load', ({ params }) => { open(params._meta?.brickbat, params.sessionId); return {}; })
  .onRequest('session/prompt', async ({ params, client }) => {
    const { sessionId, prompt } = params;
    const show = (chunk) => {
      const update = shown(chunk);
      // Ignore updates that fail because the harness has exited.
      if (update) client.notify('session/update', { sessionId, update }).catch(() => {});
    };
    const ask = async ({ approvalId, toolCallId }) => {
      const question = { sessionId, toolCall: { toolCallId }, options: OPTIONS };
      const { outcome } = await client.request('session/request_permission', question);
      // Undefined after a stop.
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
  // The harness has exited, so this process exits too, even if tools still wait.
  .closed.then(() => process.exit());
