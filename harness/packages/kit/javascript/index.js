// Speaks Brickbat's protocol for an adapter. It is independent of the SDK.
import { Console } from 'node:console';
import { subscribe } from 'node:diagnostics_channel';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { agent, ndJsonStream, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';

/** @typedef {{ name: string, description: string, inputSchema: any, gateUrl: string, deaf: boolean }} Given a tool */
/** @typedef {{ baseUrl: string, dialect: string, mode: string, stateDir: string, tools: Given[], savingUrl?: string }} Spec */
/** @typedef {{ load: (empty: any) => any, save: (history: any) => void }} Store the data in your database */
/** @typedef {(id: string, state?: string, title?: string) => void} Show shows the user the state of a call */
/** @typedef {{ raised?: any, cancelled?: boolean }} End the end of a turn as the SDK reports it */
/** `onStop` is called at each stop of a turn. The signal reports only the first. */
/** `repaired` reports a repair that the adapter makes in this turn in the application's place. */
/** @typedef {{ stop?: AbortController, onStop?: () => void, repairs: string[], repaired: (name: string) => void }} Running */
/** @typedef {{ id: string, spec: Spec, store: Store } & Running} Session */
/** @typedef {(callId: string) => Promise<boolean | undefined>} Ask the user's decision; undefined after a stop */
/** @typedef {(session: Session, text: string, stop: AbortSignal, show: Show, ask: Ask) => Promise<End>} Turn */
/** @typedef {{ type: string, call?: string, tool?: string, text?: string, failed?: boolean }} Event */
/** @typedef {{ tool: string, input: any }} Known a call's tool and its arguments so far */
/** @typedef {{ call: string, state: string, arguments?: string, result?: string }} Stored a stored call */
/**
 * Code that makes messages of the SDK's own stream. `feed` puts an event into that stream, even if it is out of order.
 * `end` ends the stream. `error` returns the error that the SDK has reported, if it reports errors without throwing.
 * @typedef {{ feed: (event: Event, known: Known) => any, end: () => any,
 *   stored: () => Stored[], error?: () => any }} Consumer
 */
/**
 * The optional parts of an adapter. `capabilities`: those that differ from CAPABILITIES. `settled`: waits until the SDK
 * has consumed its input, if turns of the event loop are not enough. `give`: converts a given history to the form of the
 * store. `stored`: returns the history, if the store contains more than that. `act`: runs an action of `_brickbat/action`.
 * `closed`: releases the resources of an ended session. `events`: functions that open consumers of events, by name.
 * `provider`: switches the open session to a model of the provider that its `spec` now names. Without it, the session is
 * loaded again. `tools`: gives a running turn the list of tools that its `spec` now names.
 * @typedef {{ capabilities?: Record<string, any>, settled?: () => Promise<void>,
 *   give?: (history: any[], spec: Spec) => any, stored?: (session: Session) => any,
 *   act?: (session: Session, action: any) => any, closed?: (session: Session) => any,
 *   provider?: (session: Session) => any, tools?: (session: Session) => any,
 *   events?: Record<string, () => Consumer | Promise<Consumer>> }} More
 */

// The protocol uses standard output.
globalThis.console = new Console(process.stderr, process.stderr);

// `eagerTools`: true if the SDK starts tools while the reply is still streaming.
const CAPABILITIES = { cancel: true, streaming: true, eagerTools: false, barrier: true, history: true, load: true };
const OPTIONS = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];
// Turns of the event loop after which a byte from the socket has passed every stream of the SDK, with a margin.
const LOOP_TURNS = 16;

// The last sockets that this process has connected, so that the harness can compare the bytes that they have read with
// those that it has sent. It needs this where the operating system does not show the queues of sockets.
const MAX_SOCKETS = 256;
const sockets = [];
subscribe('net.client.socket', ({ socket }) => {
  socket.once('connect', () => {
    if (socket.remotePort === undefined) return;
    sockets.push({ port: socket.localPort, to: socket.remotePort, socket });
    if (sockets.length > MAX_SOCKETS) sockets.shift();
  });
});
const readings = () => sockets.map(({ port, to, socket }) => ({ port, to, bytes: socket.bytesRead }));

/** @typedef {{ isCancellationRequested?: boolean, onCancellationRequested: (stop: () => void) => unknown }} Token */
/** @typedef {AbortSignal | PromiseLike<unknown> | Token} Stop the forms in which an SDK reports a stop to its tools */

/**
 * Returns the version of the package that contains a file, such as `versionOf(import.meta.resolve('my-sdk'))`. It also
 * works for a package that does not export its `package.json`.
 * @type {(file: string) => string}
 */
export function versionOf(file) {
  for (let folder = dirname(fileURLToPath(file)); ; folder = dirname(folder)) {
    try {
      const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      // A package may have a package.json without a name in an inner folder.
      if (name && version) return version;
    } catch (error) {
      if (error.code !== 'ENOENT' || folder === dirname(folder)) throw error;
    }
  }
}

/**
 * Posts a tool's arguments to its gate and waits. The harness decides when and how the tool ends. The thrown error has a
 * `kind`: `error` for a tool that returns an error, `throw` for one that throws, `deny` for one that the user denied.
 * `stop` is a signal, a promise that the stop settles, or a cancellation token.
 * @type {(given: Given, input: unknown, stop?: Stop) => Promise<string>}
 */
export async function gate({ gateUrl, deaf }, input, stop) {
  const signal = deaf ? undefined : signalOf(stop);
  const answer = await fetch(gateUrl, { method: 'POST', body: JSON.stringify(input), signal });
  const { kind, text } = await answer.json();
  if (kind === 'return') return text;
  throw Object.assign(new Error(text), { name: kind === 'deny' ? 'Denied' : 'ToolError', kind });
}

/** The last write of each session with delayed writes. The next write waits for it. */
const writing = new Map();

/**
 * Runs a write of the SDK's store. The harness decides when it begins, when the SDK continues after it, and whether it
 * fails. `entries` is the number of entries that it adds to the thread: user messages, calls and results. `write` gets the
 * number of entries to keep, from the first, if that is not all of them; `upTo` leaves out the others. The harness delays
 * writes only in scenarios where something happens during a write.
 * @template T
 * @type {(spec: Spec, entries: number, write: (keep?: number) => Promise<T>) => Promise<T>}
 */
export async function saving({ savingUrl }, entries, write) {
  if (!savingUrl || entries === 0) return write();
  const ask = async (message) => {
    const answer = await fetch(savingUrl, { method: 'POST', body: JSON.stringify({ entries, ...message }) });
    if (!answer.ok) throw new Error(`${savingUrl}: ${answer.status}`);
    return answer.json();
  };
  const before = writing.get(savingUrl);
  const written = (async () => {
    await before?.catch(() => {});
    const { keep = entries, error } = await ask({ side: 'before' });
    const failure = error && Object.assign(new Error(error), { name: 'StoreFailure', code: 'ENOSPC' });
    const over = () => ask({ side: 'after', ...(keep < entries && { kept: keep }) });
    // A store that keeps nothing and reports an error has not begun to write.
    if (failure && keep === 0) {
      await over();
      throw failure;
    }
    const result = await (keep < entries ? write(keep) : write());
    await over();
    if (failure) throw failure;
    return result;
  })();
  writing.set(savingUrl, written);
  return written;
}

/**
 * The items of a write up to the last entry that the store keeps. Without `keep`, it keeps all.
 * @template T
 * @type {(items: T[], isEntry: (item: T) => boolean, keep?: number) => T[]}
 */
export function upTo(items, isEntry, keep = Infinity) {
  let kept = 0;
  const end = keep === 0 ? 0 : items.findIndex((item) => isEntry(item) && ++kept > keep);
  return end < 0 ? items : items.slice(0, end);
}

/** @type {(stop?: Stop) => AbortSignal | undefined} */
function signalOf(stop) {
  if (!stop || 'aborted' in stop) return stop;
  const controller = new AbortController();
  const abort = () => controller.abort();
  if ('then' in stop) stop.then(abort, abort);
  else if (stop.isCancellationRequested) abort();
  else stop.onCancellationRequested(abort);
  return controller.signal;
}

/** The store of a session: one file, created with the session and replaced atomically. */
function storeAt(file) {
  const save = (history) => {
    writeFileSync(`${file}.new`, JSON.stringify(history));
    renameSync(`${file}.new`, file);
  };
  const load = (empty) => JSON.parse(readFileSync(file, 'utf8')) ?? empty;
  return { load, save };
}

/** @type {(end: End) => { kind: string, class?: string, text?: string }} */
function outcomeOf({ raised, cancelled }) {
  if (cancelled) return { kind: 'cancelled' };
  if (raised === undefined) return { kind: 'returned' };
  return { kind: 'raised', class: raised?.name ?? typeof raised, text: raised?.message ?? String(raised) };
}

/** Waits one turn of the event loop for each stage that the SDK's input may have to pass. */
async function turns() {
  for (let i = 0; i < LOOP_TURNS; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** Parses arguments the way an SDK does. Empty arguments become an empty object, and invalid JSON stays text. */
function inputOf(text) {
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Feeds a new consumer with events and records its stored calls after each event and after the end of the stream.
 * @type {(consumers: More['events'], params: { consumer: string, events: Event[] }) => Promise<any>}
 */
export async function replay(consumers, { consumer, events }) {
  if (!Object.hasOwn(consumers ?? {}, consumer)) throw RequestError.invalidParams(undefined, `unknown consumer ${consumer}`);
  const { feed, end, stored, error } = await consumers[consumer]();
  await turns();
  const tools = new Map(events.filter(({ type }) => type === 'start').map(({ call, tool }) => [call, tool]));
  // Arguments since the last start of the call, because a retry sends them again.
  const texts = new Map();
  const told = { stored: [] };
  for (let at = 0; at <= events.length; at++) {
    const { type, call, text } = events[at] ?? {};
    if (type === 'start') texts.set(call, '');
    if (type === 'arguments') texts.set(call, (texts.get(call) ?? '') + text);
    const known = { tool: tools.get(call) ?? 'unknown', input: inputOf(texts.get(call) ?? '') };
    let refusal;
    try {
      await (at < events.length ? feed(events[at], known) : end());
    } catch (thrown) {
      refusal = thrown;
    }
    await turns();
    refusal ??= error?.();
    if (refusal !== undefined) told.refused ??= { at, message: refusal?.message ?? String(refusal) };
    told.stored.push(stored());
  }
  return { told };
}

/**
 * Serves the protocol until standard input ends.
 * @param {{ sdk: string, version: string, modes: string[] }} about
 * @param {string[]} dialects
 * @param {Turn} turn
 * @param {More} more
 */
export function serve(about, dialects, turn, { capabilities, settled, give, stored, act, closed, events, provider, tools } = {}) {
  /** @type {Map<string, Session>} */
  const sessions = new Map();
  const invalid = (why) => RequestError.invalidParams(undefined, why);
  const session = (id) => {
    const found = sessions.get(id);
    if (!found) throw invalid(`unknown session ${id}`);
    return found;
  };
  const open = (id, spec) => {
    if (spec?.protocol !== 1) throw invalid('expected _meta.brickbat with protocol 1');
    if (!about.modes.includes(spec.mode)) throw invalid(`unknown mode ${spec.mode}`);
    if (!dialects.includes(spec.dialect)) throw invalid(`unknown dialect ${spec.dialect}`);
    const repairs = [];
    const store = storeAt(join(spec.stateDir, `${id}.json`));
    const opened = { id, spec, store, repairs, repaired: (name) => repairs.push(name) };
    sessions.set(id, opened);
    return opened;
  };
  /** Continues the thread with the provider of another dialect and a current model of it. */
  const goOver = async (id, dialect) => {
    const before = session(id);
    if (!dialects.includes(dialect)) throw invalid(`unknown dialect ${dialect}`);
    const { model, ...spec } = { ...before.spec, dialect };
    if (provider) {
      before.spec = spec;
      return void await provider(before);
    }
    await closed?.(before);
    open(id, spec).store.load(null);
  };
  agent({ name: 'adapter' })
    .onRequest('initialize', () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentCapabilities: { loadSession: true, ...(closed && { sessionCapabilities: { close: {} } }) },
      _meta: { brickbat: {
        protocol: 1, ...about, ...(events && { consumers: Object.keys(events) }),
        capabilities: { ...CAPABILITIES, givenHistory: Boolean(give), ...capabilities },
      } },
    }))
    .onRequest('session/new', ({ params }) => {
      const sessionId = crypto.randomUUID();
      open(sessionId, params._meta?.brickbat).store.save(null);
      return { sessionId };
    })
    .onRequest('session/load', ({ params }) => {
      open(params.sessionId, params._meta?.brickbat).store.load(null);
      return {};
    })
    .onRequest('session/close', async ({ params: { sessionId } }) => {
      const over = session(sessionId);
      over.stop?.abort();
      sessions.delete(sessionId);
      await closed?.(over);
      return {};
    })
    .onRequest('session/prompt', async ({ params: { sessionId, prompt }, client }) => {
      const running = session(sessionId);
      running.stop = new AbortController();
      running.repairs.length = 0;
      const shown = new Set();
      /** @type {Show} */
      const show = (toolCallId, status, title) => {
        if (!status) return;
        const sessionUpdate = shown.has(toolCallId) ? 'tool_call_update' : 'tool_call';
        shown.add(toolCallId);
        // Ignore updates that fail because the harness has exited.
        const update = { sessionUpdate, toolCallId, title, status };
        client.notify('session/update', { sessionId, update }).catch(() => {});
      };
      /** @type {Ask} */
      const ask = async (toolCallId) => {
        const question = { sessionId, toolCall: { toolCallId }, options: OPTIONS };
        const { outcome } = await client.request('session/request_permission', question);
        return outcome.outcome === 'selected' ? outcome.optionId === 'yes' : undefined;
      };
      const text = prompt.map((block) => block.text).join('');
      const outcome = outcomeOf(await turn(running, text, running.stop.signal, show, ask));
      const brickbat = { outcome, ...(running.repairs.length > 0 && { repaired: [...running.repairs] }) };
      return { stopReason: outcome.kind === 'cancelled' ? 'cancelled' : 'end_turn', _meta: { brickbat } };
    })
    .onNotification('session/cancel', ({ params }) => {
      sessions.get(params.sessionId)?.stop?.abort();
      sessions.get(params.sessionId)?.onStop?.();
    })
    .onRequest('_brickbat/barrier', (params) => params, async () => {
      await turns();
      await settled?.();
      return { read: readings() };
    })
    .onRequest('_brickbat/give', (params) => params, ({ params: { session: spec, history } }) => {
      if (!give) throw RequestError.methodNotFound('_brickbat/give');
      const sessionId = crypto.randomUUID();
      storeAt(join(spec.stateDir, `${sessionId}.json`)).save(give(history, spec));
      return { sessionId };
    })
    .onRequest('_brickbat/action', (params) => params, async ({ params: { sessionId, action } }) => {
      if (action.change?.kind === 'provider' && capabilities?.changes?.provider) {
        await goOver(sessionId, action.change.dialect);
        return {};
      }
      if (action.tools && capabilities?.changes?.tools) {
        const changed = session(sessionId);
        changed.spec = { ...changed.spec, tools: action.tools };
        await tools?.(changed);
        return {};
      }
      if (!act) throw RequestError.methodNotFound('_brickbat/action');
      return await act(session(sessionId), action) ?? {};
    })
    .onRequest('_brickbat/history', (params) => params, async ({ params }) => {
      const asked = session(params.sessionId);
      return { history: stored ? await stored(asked) : asked.store.load(null) };
    })
    .onRequest('_brickbat/events', (params) => params, ({ params }) => replay(events, params))
    .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)))
    // The harness has exited, so this process exits too, even if tools still wait.
    .closed.then(() => process.exit());
}
