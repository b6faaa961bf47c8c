// ai 5.0.277: when the user stops the turn after settled 1, a request breaks a rule of the provider: every call is answered in the next message
//
// In turn 1 the user stops the turn after settled 1.
// Then: messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01h85SE1o40AY4q99fyV9DDg, toolu_017hqiZQYgmUVe6WattlSrR9. Each `tool_use` block must have a corresponding `tool_result` block in the next message.
//
// Expected: The provider accepts every request of the thread: every call is answered in the next message.
// Fails on ai 5.0.277.
//
// Made by `brickbat export` from `abort/mid-batch#k=1@anthropic-messages` on ai-sdk@5.0.277/ui-messages; the test itself does not need Brickbat.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'vitest';
import { createAnthropic } from '@ai-sdk/anthropic';
import { convertToModelMessages, jsonSchema, stepCountIs, streamText, tool } from 'ai';

/** The application: the messages from the end of the UI message stream are stored and converted for the next turn. */
function application(url, tools) {
  let messages = [];
  const model = () => {
    return createAnthropic({ baseURL: `${url}/v1`, apiKey: 'test' })('claude-haiku-4-5');
  };
  const offered = Object.fromEntries(tools.map(({ name, description, inputSchema, run }) => [name, tool({
    description,
    inputSchema: jsonSchema(inputSchema),
    execute: (input, { abortSignal }) => run(input, abortSignal),
  })]));
  return {
    async turn(text, abortSignal) {
      messages = [...messages, { id: `user-${messages.length}`, role: 'user', parts: [{ type: 'text', text }] }];
      let raised;
      const result = streamText({
        model: model(),
        messages: await convertToModelMessages(messages),
        tools: offered,
        stopWhen: stepCountIs(20),
        abortSignal,
        onError: ({ error }) => { raised ??= error; },
      });
      const stream = result.toUIMessageStream({
        originalMessages: messages,
        generateMessageId: () => `assistant-${messages.length}`,
        onError: (error) => error?.message ?? String(error),
        onFinish: (end) => { messages = end.messages; },
      });
      for await (const _ of stream);
      if (raised && !abortSignal.aborted) throw raised;
    },
  };
}

test("ai 5.0.277: when the user stops the turn after settled 1, a request breaks a rule of the provider: every call is answered in the next message", { timeout: 60_000 }, async ({ onTestFinished }) => {
  const provider = await serve();
  onTestFinished(() => provider.close());
  const tools = toolbox();
  const app = application(provider.url, tools.offered);

  // Turn 1.
  const turn1 = begin(app, "Look up the three orders.");
  await turn1.until(tools.started("b"));
  await tools.settle("b");
  await turn1.until(tools.started("a", "c"));
  turn1.stop();
  await turn1.ended();

  // Turn 2.
  const turn2 = begin(app, "What happened?");
  const error = await turn2.ended();

  const problems = provider.requests.flatMap((body) => problem(JSON.parse(body)) ?? []);
  assert.equal(problems.join('\n'), '', problems.join('\n'));
  assert.ok(provider.requests.some((body) => body.includes("What happened?")), `the last turn sent no request: ${error}`);
});

/** Each tool_use has its tool_result in the next turn; messages of one role after another are one turn. */
function problem({ messages }) {
  const turns = [];
  for (const { role, content } of messages) {
    if (turns.at(-1)?.role !== role) turns.push({ role, blocks: [] });
    if (Array.isArray(content)) turns.at(-1).blocks.push(...content);
  }
  for (const [at, { blocks }] of turns.entries()) {
    const answered = (turns[at + 1]?.blocks ?? []).map((block) => block.tool_use_id);
    const open = blocks.filter(({ type, id }) => type === 'tool_use' && !answered.includes(id));
    if (open.length > 0) return `no tool_result after turn ${at + 1} for ${open.map(({ id }) => id)}`;
  }
}

/** The tools that the model may call, and its calls of them. */
const TOOLS = [
  {"name":"lookup","description":"The tool `lookup` of the test.","inputSchema":{"type":"object","properties":{"key":{"type":"string"},"ref":{"type":"string"}},"required":["ref"],"additionalProperties":false}},
];
const CALLS = {
  "a": {"ref":"a-do1nug","kind":"return","text":"found a [a-do1nug]"},
  "b": {"ref":"b-qovtso","kind":"return","text":"found b [b-qovtso]"},
  "c": {"ref":"c-tgda5o","kind":"return","text":"found c [c-tgda5o]"},
};

/** The provider's replies, request by request, byte for byte as they were recorded. */
const REPLIES = [
  {"status":200,"headers":{"content-type":"text/event-stream; charset=utf-8","request-id":"req_b1d5fe79f90ea00800000000"},"ending":"complete", "frames": [
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_01b1d5fe79f90ea00800000000\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-haiku-4-5\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":12,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":1}}}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    "event: ping\ndata: {\"type\": \"ping\"}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Let me loo\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"k these up.\"}}\n\n",
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_01h85SE1o40AY4q99fyV9DDg\",\"name\":\"lookup\",\"input\":{}}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"key\\\":\\\"a\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\\\",\\\"ref\\\":\\\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"a-do1nug\\\"}\"}}\n\n",
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_01u5GrdyFixoJkkkRQwDP4Ux\",\"name\":\"lookup\",\"input\":{}}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"key\\\":\\\"b\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\\\",\\\"ref\\\":\\\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"b-qovtso\\\"}\"}}\n\n",
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":2}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":3,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_017hqiZQYgmUVe6WattlSrR9\",\"name\":\"lookup\",\"input\":{}}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"key\\\":\\\"c\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\\\",\\\"ref\\\":\\\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"c-tgda5o\\\"}\"}}\n\n",
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":3}\n\n",
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\",\"stop_sequence\":null},\"usage\":{\"input_tokens\":12,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":42}}\n\n",
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
  ] },
];
/** Any later request gets a short text. */
const SPARE = {"status":200,"headers":{"content-type":"text/event-stream; charset=utf-8","request-id":"req_8e7fd82b89935b6300000000"},"frames":["event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_018e7fd82b89935b6300000000\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-haiku-4-5\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":12,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":1}}}\n\n","event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n","event: ping\ndata: {\"type\": \"ping\"}\n\n","event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Done.\"}}\n\n","event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n","event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"input_tokens\":12,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":42}}\n\n","event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"],"ending":"complete"};

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
