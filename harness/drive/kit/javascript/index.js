// Speaks Brickbat's protocol for the adapter of an SDK, and knows none.
import { Console } from 'node:console';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { agent, ndJsonStream, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';

/** @typedef {{ name: string, description: string, inputSchema: any, gateUrl: string, deaf: boolean }} Given a tool */
/** @typedef {{ baseUrl: string, dialect: string, mode: string, stateDir: string, tools: Given[], savingUrl?: string }} Spec */
/** @typedef {{ load: (empty: any) => any, save: (history: any) => void }} Store what your database would keep */
/** @typedef {(id: string, state?: string, title?: string) => void} Show what the user sees of a call */
/** @typedef {{ raised?: any, cancelled?: boolean }} End how the turn ended, as the SDK says it */
/** `onStop` is called at each stop of a turn; the signal is for the first. */
/** @typedef {{ id: string, spec: Spec, store: Store, stop?: AbortController, onStop?: () => void }} Session */
/** @typedef {(callId: string) => Promise<boolean | undefined>} Ask whether the user allows it; nothing after a stop */
/** @typedef {(session: Session, text: string, stop: AbortSignal, show: Show, ask: Ask) => Promise<End>} Turn */
/** @typedef {{ type: string, call?: string, tool?: string, text?: string, failed?: boolean }} Event */
/** @typedef {{ tool: string, input: any }} Known what the events tell of a call: its tool, and its arguments so far */
/** @typedef {{ call: string, state: string, arguments?: string, result?: string }} Stored what is stored of a call */
/**
 * Whoever makes messages of the SDK's own stream. `feed` puts an event into that stream and `end` ends it: what is out
 * of order stays so. `error`: what the SDK has reported, where it does not throw.
 * @typedef {{ feed: (event: Event, known: Known) => any, end: () => any,
 *   stored: () => Stored[], error?: () => any }} Consumer
 */
/**
 * What an adapter may add. `capabilities`: where it differs from those below. `settled`: waits until what the SDK has
 * taken in is consumed, where turns of the event loop do not tell. `give`: a given history in the form of the store.
 * `stored`: the history, where what the store holds is more than that. `act`: does what `_brickbat/action` asks for.
 * `closed`: lets go of a session that is over, such as of its connections. `events`: opens a consumer of events, by name.
 * `provider`: gives the open session a model of the provider that its `spec` names now; without it, the session is loaded
 * anew.
 * @typedef {{ capabilities?: Record<string, any>, settled?: () => Promise<void>,
 *   give?: (history: any[], spec: Spec) => any, stored?: (session: Session) => any,
 *   act?: (session: Session, action: any) => any, closed?: (session: Session) => any,
 *   provider?: (session: Session) => any,
 *   events?: Record<string, () => Consumer | Promise<Consumer>> }} More
 */

// Standard output belongs to the protocol.
globalThis.console = new Console(process.stderr, process.stderr);

// `eagerTools`: whether the SDK starts tools while the reply is still streaming.
const CAPABILITIES = { cancel: true, streaming: true, eagerTools: false, barrier: true, history: true, load: true };
const OPTIONS = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];
// Turns of the event loop that bring a byte from the socket through every stream of the SDK, with a margin.
const LOOP_TURNS = 16;

/** @typedef {{ isCancellationRequested?: boolean, onCancellationRequested: (stop: () => void) => unknown }} Token */
/** @typedef {AbortSignal | PromiseLike<unknown> | Token} Stop by what an SDK tells its tools of a stop */

/**
 * Posts a tool's arguments to its gate and waits: the harness decides when and how the tool ends. What it throws has a
 * `kind`: `error` for a tool that answers with an error, `throw` for one that breaks, `deny` for one that was refused.
 * `stop` is a signal, a promise that is settled by the stop, or a cancellation token.
 * @type {(given: Given, input: unknown, stop?: Stop) => Promise<string>}
 */
export async function gate({ gateUrl, deaf }, input, stop) {
  const signal = deaf ? undefined : signalOf(stop);
  const answer = await fetch(gateUrl, { method: 'POST', body: JSON.stringify(input), signal });
  const { kind, text } = await answer.json();
  if (kind === 'return') return text;
  throw Object.assign(new Error(text), { name: kind === 'deny' ? 'Denied' : 'ToolError', kind });
}

/** For each session whose writes are held, the end of its last write: the next one does not begin before. */
const writing = new Map();

/**
 * Makes a write of the SDK's store: the harness decides when it begins, and when the SDK goes on after it. `entries` is how
 * many entries it adds to the thread: what the user says, each call and each result. The harness holds no write of a
 * scenario in which nothing happens there.
 * @template T
 * @type {(spec: Spec, entries: number, write: () => Promise<T>) => Promise<T>}
 */
export async function saving({ savingUrl }, entries, write) {
  if (!savingUrl || entries === 0) return write();
  const ask = async (side) => {
    const answer = await fetch(savingUrl, { method: 'POST', body: JSON.stringify({ entries, side }) });
    if (!answer.ok) throw new Error(`${savingUrl}: ${answer.status}`);
  };
  const before = writing.get(savingUrl);
  const written = (async () => {
    await before?.catch(() => {});
    await ask('before');
    const result = await write();
    await ask('after');
    return result;
  })();
  writing.set(savingUrl, written);
  return written;
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

/** Where a session is kept: a file for each, which is there from the start, and is replaced in one step. */
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

/** As many turns of the event loop as there could be stages on the way of what has been taken in. */
async function turns() {
  for (let i = 0; i < LOOP_TURNS; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** Arguments as an SDK parses them: none are an empty object, and what is no JSON stays text. */
function inputOf(text) {
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Feeds a new consumer with events, and notes what it has stored after each of them and when the stream has ended.
 * @type {(consumers: More['events'], params: { consumer: string, events: Event[] }) => Promise<any>}
 */
export async function replay(consumers, { consumer, events }) {
  if (!Object.hasOwn(consumers ?? {}, consumer)) throw RequestError.invalidParams(undefined, `no consumer ${consumer}`);
  const { feed, end, stored, error } = await consumers[consumer]();
  await turns();
  const tools = new Map(events.filter(({ type }) => type === 'start').map(({ call, tool }) => [call, tool]));
  // Since the call was last begun: whoever tries again tells its arguments again.
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
 * Answers the harness until standard input ends.
 * @param {{ sdk: string, version: string, modes: string[] }} about
 * @param {string[]} dialects
 * @param {Turn} turn
 * @param {More} more
 */
export function serve(about, dialects, turn, { capabilities, settled, give, stored, act, closed, events, provider } = {}) {
  /** @type {Map<string, Session>} */
  const sessions = new Map();
  const invalid = (why) => RequestError.invalidParams(undefined, why);
  const session = (id) => {
    const found = sessions.get(id);
    if (!found) throw invalid(`no session ${id}`);
    return found;
  };
  const open = (id, spec) => {
    if (spec?.protocol !== 1) throw invalid('expected _meta.brickbat of protocol 1');
    if (!about.modes.includes(spec.mode)) throw invalid(`no mode ${spec.mode}`);
    if (!dialects.includes(spec.dialect)) throw invalid(`no dialect ${spec.dialect}`);
    const opened = { id, spec, store: storeAt(join(spec.stateDir, `${id}.json`)) };
    sessions.set(id, opened);
    return opened;
  };
  /** The thread goes on with the provider of another dialect, and with a current model of it. */
  const goOver = async (id, dialect) => {
    const before = session(id);
    if (!dialects.includes(dialect)) throw invalid(`no dialect ${dialect}`);
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
      const shown = new Set();
      /** @type {Show} */
      const show = (toolCallId, status, title) => {
        if (!status) return;
        const sessionUpdate = shown.has(toolCallId) ? 'tool_call_update' : 'tool_call';
        shown.add(toolCallId);
        // A harness that is gone needs no update.
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
      return { stopReason: outcome.kind === 'cancelled' ? 'cancelled' : 'end_turn', _meta: { brickbat: { outcome } } };
    })
    .onNotification('session/cancel', ({ params }) => {
      sessions.get(params.sessionId)?.stop?.abort();
      sessions.get(params.sessionId)?.onStop?.();
    })
    .onRequest('_brickbat/barrier', (params) => params, async () => {
      await turns();
      await settled?.();
      return {};
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
      if (!act) throw RequestError.methodNotFound('_brickbat/action');
      return await act(session(sessionId), action) ?? {};
    })
    .onRequest('_brickbat/history', (params) => params, async ({ params }) => {
      const asked = session(params.sessionId);
      return { history: stored ? await stored(asked) : asked.store.load(null) };
    })
    .onRequest('_brickbat/events', (params) => params, ({ params }) => replay(events, params))
    .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)))
    // The harness is gone, and so is the reason to live, whatever tools still wait.
    .closed.then(() => process.exit());
}
