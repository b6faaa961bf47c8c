// @langchain/langgraph 1.7.3: with `model/half-character`, a request breaks a rule of the provider: the body is JSON
//
// Nothing is stopped or cut off: the model's replies or the tools' results are enough to show it.
// Then: The request body is not valid JSON: no low surrogate in string: line 1 column 637 (char 636)
//
// Expected: The provider accepts every request of the thread: the body is JSON.
// Fails on @langchain/langgraph 1.7.3.
//
// Made by `brickbat export` from `model/half-character@anthropic-messages` on langgraph@1.7.3/async; the test itself does not need Brickbat.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'vitest';
import { ChatAnthropic } from '@langchain/anthropic';
import { MemorySaver } from '@langchain/langgraph';
import { createAgent, tool } from 'langchain';

/** The application: an agent with a checkpointer that keeps the thread. */
function application(url, tools) {
  const agent = createAgent({
    model: new ChatAnthropic({ model: 'claude-haiku-4-5', apiKey: 'test', anthropicApiUrl: url }),
    tools: tools.map(({ name, description, inputSchema: schema, run }) =>
      tool((input, config) => run(input, config?.signal), { name, description, schema })),
    checkpointer: new MemorySaver(),
  });
  return {
    async turn(text, signal) {
      const stream = await agent.stream({ messages: [{ role: 'user', content: text }] }, {
        configurable: { thread_id: 'thread' },
        signal,
        recursionLimit: 60,
        durability: 'async',
        // The model streams only in the mode `messages`.
        streamMode: ['messages', 'updates'],
      });
      for await (const _ of stream);
    },
  };
}

test("@langchain/langgraph 1.7.3: with `model/half-character`, a request breaks a rule of the provider: the body is JSON", { timeout: 60_000 }, async ({ onTestFinished }) => {
  const provider = await serve();
  onTestFinished(() => provider.close());
  const tools = toolbox();
  const app = application(provider.url, tools.offered);

  // Turn 1.
  const turn1 = begin(app, "Look up the three orders.");
  await turn1.until(tools.started("a"));
  await tools.settle("a");
  await turn1.until(tools.started("c"));
  await tools.settle("c");
  const error = await turn1.ended();

  const problems = provider.requests.flatMap((body) => problem(JSON.parse(body)) ?? []);
  assert.equal(problems.join('\n'), '', problems.join('\n'));
  assert.ok(provider.requests.some((body) => body.includes("Look up the three orders.")), `the last turn sent no request: ${error}`);
});

/** Every string is whole: half of a surrogate pair is no character, and the provider reads no such JSON. */
function problem(request) {
  let half;
  JSON.parse(JSON.stringify(request), (_, value) => {
    if (typeof value === 'string' && !value.isWellFormed()) half = value;
    return value;
  });
  if (half !== undefined) return `the request has half of a character in ${JSON.stringify(half)}`;
}

/** The tools that the model may call, and the calls that it makes of them. */
const TOOLS = [
  {"name":"lookup","description":"The tool `lookup` of the test.","inputSchema":{"type":"object","properties":{"key":{"type":"string"},"ref":{"type":"string"}},"required":["ref"],"additionalProperties":false}},
];
const CALLS = {
  "a": {"ref":"a-s918gd","kind":"return","text":"found a [a-s918gd]"},
  "c": {"ref":"c-xk78di","kind":"return","text":"found c [c-xk78di]"},
};

/** What the provider says, request by request, byte for byte as it was recorded. */
const REPLIES = [
  {"status":200,"headers":{"content-type":"text/event-stream; charset=utf-8","request-id":"req_5a30768ba5c8288b00000000"},"ending":"complete", "frames": [
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_015a30768ba5c8288b00000000\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-haiku-4-5\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":12,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":1}}}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    "event: ping\ndata: {\"type\": \"ping\"}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Let me loo\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"k these up.\"}}\n\n",
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_01JEG5amRmO7rhsshkHRRe3H\",\"name\":\"lookup\",\"input\":{}}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"key\\\":\\\"a\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\\\",\\\"ref\\\":\\\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"a-s918gd\\\"}\"}}\n\n",
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_01Tdnn6VtjXEzFSs7fPWpoXA\",\"name\":\"lookup\",\"input\":{}}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"key\\\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\":\\\"b \\\\u\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"d83d\\\"}\"}}\n\n",
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":2}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":3,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_01Y9zqmDJbZsn8pEdskxXHRy\",\"name\":\"lookup\",\"input\":{}}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"key\\\":\\\"c\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\\\",\\\"ref\\\":\\\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"c-xk78di\\\"}\"}}\n\n",
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":3}\n\n",
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\",\"stop_sequence\":null},\"usage\":{\"input_tokens\":12,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":42}}\n\n",
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
  ] },
];
/** Any request after those gets a short text. */
const SPARE = {"status":200,"headers":{"content-type":"text/event-stream; charset=utf-8","request-id":"req_8e7fd82b89935b6300000000"},"frames":["event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_018e7fd82b89935b6300000000\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-haiku-4-5\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":12,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":1}}}\n\n","event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n","event: ping\ndata: {\"type\": \"ping\"}\n\n","event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Done.\"}}\n\n","event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n","event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"input_tokens\":12,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":42}}\n\n","event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"],"ending":"complete"};

/** Runs a turn. `until` waits for a fact, and fails if the turn is over before it. */
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

/** Tools whose calls end when the test says so. A call is known by its argument `ref`. */
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

/** The provider. It holds a reply where the recording says so, until the test lets it go on. */
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

/** Lets whatever has been sent or settled arrive: all of it is in this process, so turns of its event loop are enough. */
async function consumed() {
  for (let i = 0; i < 16; i++) await new Promise((resolve) => { setImmediate(resolve); });
}

function deferred() {
  const parts = {};
  parts.promise = new Promise((resolve, reject) => { Object.assign(parts, { resolve, reject }); });
  parts.promise.catch(() => {});
  return parts;
}
