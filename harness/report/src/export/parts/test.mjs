// {{title}}
//
{{about}}
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
{{framework}}
{{application}}

test({{name}}, { timeout: 60_000 }, async ({{context}}) => {
  const provider = await serve();
  {{cleanup}}(() => provider.close());
  const tools = toolbox();
  const app = application(provider.url, tools.offered);

{{story}}

{{assertion}}
});

{{problem}}/** The tools that the model may call, and its calls of them. */
const TOOLS = [
{{tools}}
];
const CALLS = {
{{calls}}
};

/** The provider's replies, request by request, byte for byte as they were recorded. */
const REPLIES = [
{{replies}}
];
/** Any later request gets a short text. */
const SPARE = {{spare}};

/** Runs a turn. `until` waits for a fact, and fails if the turn ends before it. */
function begin(app, text) {
  const stop = new AbortController();
  let error;
  const ended = app.turn(text, stop.signal).catch((raised) => { error = raised; });
  return {
    stop: () => stop.abort(),
    async ended() {
      await ended;
      return error;
    },
    async until(fact) {
      let isReached = false;
      await Promise.race([fact.then(() => { isReached = true; }), ended]);
      if (!isReached) throw new Error(`the turn "${text}" ended too early`, { cause: error });
    },
  };
}

/** Tools with calls that end when the test decides. A call is identified by its argument `ref`. */
function toolbox() {
  const runs = [];
  const waiting = new Map();
  const at = (name) => {
    if (!waiting.has(name)) waiting.set(name, { started: deferred(), ended: deferred() });
    return waiting.get(name);
  };
  const run = (deaf) => (args, signal) => {
    const name = Object.keys(CALLS).find((known) => CALLS[known].ref === args?.ref);
    runs.push({ name, args });
    if (!name) throw new Error('the model has not made this call');
    if (!deaf) signal?.addEventListener('abort', () => at(name).ended.reject(signal.reason));
    at(name).started.resolve();
    return at(name).ended.promise;
  };
  return {
    runs,
    offered: TOOLS.map(({ deaf, ...tool }) => ({ ...tool, run: run(deaf) })),
    started: (...names) => Promise.all(names.map((name) => at(name).started.promise)),
    async settle(name) {
      const { kind, text } = CALLS[name];
      if (kind === 'return') at(name).ended.resolve(text);
      else at(name).ended.reject(Object.assign(new Error(text), { name: 'ToolError', kind }));
      await consumed();
    },
  };
}

/** The provider. It holds a reply where the recording did, until the test releases it. */
async function serve() {
  const requests = [];
  const holds = REPLIES.map(() => ({ reached: deferred(), released: deferred() }));
  const server = createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const n = requests.push(Buffer.concat(pieces).toString()) - 1;
    const { status, headers, frames, hold, ending } = REPLIES[n] ?? SPARE;
    const pause = async (sent) => {
      if (hold !== sent) return;
      await consumed();
      holds[n].reached.resolve();
      await holds[n].released.promise;
    };
    await pause('nothing');
    response.writeHead(status, headers);
    response.flushHeaders();
    for (const [sent, frame] of frames.entries()) {
      await pause(sent);
      await new Promise((resolve) => { response.write(frame, resolve); });
    }
    await pause(frames.length);
    if (ending !== 'complete') await consumed();
    if (ending === 'reset') response.socket.resetAndDestroy();
    else if (ending === 'eof') response.socket.end();
    else response.end();
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    holds: (n) => holds[n - 1].reached.promise,
    goOn: (n) => holds[n - 1].released.resolve(),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Waits until everything that was sent or settled has arrived: all of it is in this process, so turns of its event loop are enough. */
async function consumed() {
  for (let i = 0; i < 16; i++) await new Promise((resolve) => { setImmediate(resolve); });
}

function deferred() {
  const parts = {};
  parts.promise = new Promise((resolve, reject) => { Object.assign(parts, { resolve, reject }); });
  parts.promise.catch(() => {});
  return parts;
}
