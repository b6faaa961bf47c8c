// @openai/agents 0.20.0: with `tools/half-character`, a request breaks a rule of the provider: the body is JSON
//
// Nothing is stopped or cut off: the model's replies or the tools' results are enough to show it.
// Then: We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON. If you have trouble figuring out how to fix this, please contact us through our help center at help.openai.com.)
//
// Expected: The provider accepts every request of the thread: the body is JSON.
// Fails on @openai/agents 0.20.0.
//
// Made by `brickbat export` from `tools/half-character@openai-responses` on openai-agents@0.20.0/session; the test itself does not need Brickbat.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'vitest';
import { Agent, OpenAIProvider, Runner, RunState, tool } from '@openai/agents';

/** The application: the SDK keeps the thread in a session, and a stopped run continues from its state. */
function application(url, tools) {
  const modelProvider = new OpenAIProvider({
    apiKey: 'test',
    baseURL: `${url}/v1`,
    useResponses: true,
  });
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  const agent = new Agent({
    name: 'agent',
    model: 'gpt-5',
    tools: tools.map(({ name, description, inputSchema, run }) => tool({
      name,
      description,
      parameters: inputSchema,
      strict: false,
      execute: (input, _context, details) => run(input, details?.signal),
    })),
  });
  let items = [];
  const session = {
    getSessionId: async () => 'thread',
    getItems: async (limit) => (limit === undefined ? items : items.slice(-limit)),
    addItems: async (more) => { items = [...items, ...more]; },
    popItem: async () => items.pop(),
    clearSession: async () => { items = []; },
  };
  let stopped;
  return {
    async turn(text, signal) {
      let input = text;
      if (stopped) {
        input = await RunState.fromString(agent, stopped);
        input.addInput(text);
        stopped = undefined;
      }
      const result = await runner.run(agent, input, { stream: true, signal, maxTurns: 20, session });
      try {
        for await (const _ of result);
        await result.completed;
      } finally {
        if (result.cancelled) stopped = result.state.toString();
      }
    },
  };
}

test("@openai/agents 0.20.0: with `tools/half-character`, a request breaks a rule of the provider: the body is JSON", { timeout: 60_000 }, async ({ onTestFinished }) => {
  const provider = await serve();
  onTestFinished(() => provider.close());
  const tools = toolbox();
  const app = application(provider.url, tools.offered);

  // Turn 1.
  const turn1 = begin(app, "Look up the three orders.");
  await turn1.until(tools.started("a"));
  await tools.settle("a");
  await turn1.until(tools.started("b"));
  await tools.settle("b");
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
  {"name":"cut","description":"The tool `cut` of the test.","inputSchema":{"type":"object","properties":{"key":{"type":"string"},"ref":{"type":"string"}},"required":["ref"],"additionalProperties":false}},
  {"name":"lookup","description":"The tool `lookup` of the test.","inputSchema":{"type":"object","properties":{"key":{"type":"string"},"ref":{"type":"string"}},"required":["ref"],"additionalProperties":false}},
];
const CALLS = {
  "a": {"ref":"a-k5dr5b","kind":"return","text":"found a [a-k5dr5b]"},
  "b": {"ref":"b-niv9zl","kind":"return","text":"found b: \ud83d [b-niv9zl]"},
  "c": {"ref":"c-sdxaj0","kind":"return","text":"found c [c-sdxaj0]"},
};

/** What the provider says, request by request, byte for byte as it was recorded. */
const REPLIES = [
  {"status":200,"headers":{"content-type":"text/event-stream; charset=utf-8","x-request-id":"req_e8f37aa051aee8cd00000000"},"ending":"complete", "frames": [
    "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_e8f37aa051aee8cd00000000\",\"object\":\"response\",\"created_at\":1790000000,\"status\":\"in_progress\",\"background\":false,\"error\":null,\"incomplete_details\":null,\"instructions\":null,\"max_output_tokens\":null,\"model\":\"gpt-5\",\"output\":[],\"parallel_tool_calls\":true,\"previous_response_id\":null,\"reasoning\":{\"effort\":null,\"summary\":null},\"service_tier\":\"default\",\"store\":true,\"temperature\":1.0,\"text\":{\"format\":{\"type\":\"text\"}},\"tool_choice\":\"auto\",\"tools\":[],\"top_p\":1.0,\"truncation\":\"disabled\",\"usage\":null,\"user\":null,\"metadata\":{}},\"sequence_number\":0}\n\n",
    "event: response.in_progress\ndata: {\"type\":\"response.in_progress\",\"response\":{\"id\":\"resp_e8f37aa051aee8cd00000000\",\"object\":\"response\",\"created_at\":1790000000,\"status\":\"in_progress\",\"background\":false,\"error\":null,\"incomplete_details\":null,\"instructions\":null,\"max_output_tokens\":null,\"model\":\"gpt-5\",\"output\":[],\"parallel_tool_calls\":true,\"previous_response_id\":null,\"reasoning\":{\"effort\":null,\"summary\":null},\"service_tier\":\"default\",\"store\":true,\"temperature\":1.0,\"text\":{\"format\":{\"type\":\"text\"}},\"tool_choice\":\"auto\",\"tools\":[],\"top_p\":1.0,\"truncation\":\"disabled\",\"usage\":null,\"user\":null,\"metadata\":{}},\"sequence_number\":1}\n\n",
    "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"id\":\"msg_e8f37aa051aee8cd0000000000\",\"type\":\"message\",\"status\":\"in_progress\",\"role\":\"assistant\",\"content\":[]},\"sequence_number\":2}\n\nevent: response.content_part.added\ndata: {\"type\":\"response.content_part.added\",\"item_id\":\"msg_e8f37aa051aee8cd0000000000\",\"output_index\":0,\"content_index\":0,\"part\":{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"\"},\"sequence_number\":3}\n\n",
    "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"msg_e8f37aa051aee8cd0000000000\",\"output_index\":0,\"content_index\":0,\"delta\":\"Let me loo\",\"logprobs\":[],\"sequence_number\":4}\n\n",
    "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"msg_e8f37aa051aee8cd0000000000\",\"output_index\":0,\"content_index\":0,\"delta\":\"k these up.\",\"logprobs\":[],\"sequence_number\":5}\n\n",
    "event: response.output_text.done\ndata: {\"type\":\"response.output_text.done\",\"item_id\":\"msg_e8f37aa051aee8cd0000000000\",\"output_index\":0,\"content_index\":0,\"text\":\"Let me look these up.\",\"logprobs\":[],\"sequence_number\":6}\n\nevent: response.content_part.done\ndata: {\"type\":\"response.content_part.done\",\"item_id\":\"msg_e8f37aa051aee8cd0000000000\",\"output_index\":0,\"content_index\":0,\"part\":{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"Let me look these up.\"},\"sequence_number\":7}\n\nevent: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"id\":\"msg_e8f37aa051aee8cd0000000000\",\"type\":\"message\",\"status\":\"completed\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"Let me look these up.\"}]},\"sequence_number\":8}\n\n",
    "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"output_index\":1,\"item\":{\"id\":\"fc_e8f37aa051aee8cd0000000001\",\"type\":\"function_call\",\"status\":\"in_progress\",\"arguments\":\"\",\"call_id\":\"call_tMpmrMWh2BuFoaQjOXhrIbbH\",\"name\":\"lookup\"},\"sequence_number\":9}\n\n",
    "event: response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"fc_e8f37aa051aee8cd0000000001\",\"output_index\":1,\"delta\":\"{\\\"key\\\":\\\"a\",\"sequence_number\":10}\n\n",
    "event: response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"fc_e8f37aa051aee8cd0000000001\",\"output_index\":1,\"delta\":\"\\\",\\\"ref\\\":\\\"\",\"sequence_number\":11}\n\n",
    "event: response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"fc_e8f37aa051aee8cd0000000001\",\"output_index\":1,\"delta\":\"a-k5dr5b\\\"}\",\"sequence_number\":12}\n\n",
    "event: response.function_call_arguments.done\ndata: {\"type\":\"response.function_call_arguments.done\",\"item_id\":\"fc_e8f37aa051aee8cd0000000001\",\"output_index\":1,\"arguments\":\"{\\\"key\\\":\\\"a\\\",\\\"ref\\\":\\\"a-k5dr5b\\\"}\",\"sequence_number\":13}\n\nevent: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"output_index\":1,\"item\":{\"id\":\"fc_e8f37aa051aee8cd0000000001\",\"type\":\"function_call\",\"status\":\"completed\",\"arguments\":\"{\\\"key\\\":\\\"a\\\",\\\"ref\\\":\\\"a-k5dr5b\\\"}\",\"call_id\":\"call_tMpmrMWh2BuFoaQjOXhrIbbH\",\"name\":\"lookup\"},\"sequence_number\":14}\n\n",
    "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"output_index\":2,\"item\":{\"id\":\"fc_e8f37aa051aee8cd0000000002\",\"type\":\"function_call\",\"status\":\"in_progress\",\"arguments\":\"\",\"call_id\":\"call_vrzJ0XtcfBp8xq9KzcsP8A5r\",\"name\":\"cut\"},\"sequence_number\":15}\n\n",
    "event: response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"fc_e8f37aa051aee8cd0000000002\",\"output_index\":2,\"delta\":\"{\\\"key\\\":\\\"b\",\"sequence_number\":16}\n\n",
    "event: response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"fc_e8f37aa051aee8cd0000000002\",\"output_index\":2,\"delta\":\"\\\",\\\"ref\\\":\\\"\",\"sequence_number\":17}\n\n",
    "event: response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"fc_e8f37aa051aee8cd0000000002\",\"output_index\":2,\"delta\":\"b-niv9zl\\\"}\",\"sequence_number\":18}\n\n",
    "event: response.function_call_arguments.done\ndata: {\"type\":\"response.function_call_arguments.done\",\"item_id\":\"fc_e8f37aa051aee8cd0000000002\",\"output_index\":2,\"arguments\":\"{\\\"key\\\":\\\"b\\\",\\\"ref\\\":\\\"b-niv9zl\\\"}\",\"sequence_number\":19}\n\nevent: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"output_index\":2,\"item\":{\"id\":\"fc_e8f37aa051aee8cd0000000002\",\"type\":\"function_call\",\"status\":\"completed\",\"arguments\":\"{\\\"key\\\":\\\"b\\\",\\\"ref\\\":\\\"b-niv9zl\\\"}\",\"call_id\":\"call_vrzJ0XtcfBp8xq9KzcsP8A5r\",\"name\":\"cut\"},\"sequence_number\":20}\n\n",
    "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"output_index\":3,\"item\":{\"id\":\"fc_e8f37aa051aee8cd0000000003\",\"type\":\"function_call\",\"status\":\"in_progress\",\"arguments\":\"\",\"call_id\":\"call_uNHFXqgrI0FRtyUfZwOQf6KV\",\"name\":\"lookup\"},\"sequence_number\":21}\n\n",
    "event: response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"fc_e8f37aa051aee8cd0000000003\",\"output_index\":3,\"delta\":\"{\\\"key\\\":\\\"c\",\"sequence_number\":22}\n\n",
    "event: response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"fc_e8f37aa051aee8cd0000000003\",\"output_index\":3,\"delta\":\"\\\",\\\"ref\\\":\\\"\",\"sequence_number\":23}\n\n",
    "event: response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"fc_e8f37aa051aee8cd0000000003\",\"output_index\":3,\"delta\":\"c-sdxaj0\\\"}\",\"sequence_number\":24}\n\n",
    "event: response.function_call_arguments.done\ndata: {\"type\":\"response.function_call_arguments.done\",\"item_id\":\"fc_e8f37aa051aee8cd0000000003\",\"output_index\":3,\"arguments\":\"{\\\"key\\\":\\\"c\\\",\\\"ref\\\":\\\"c-sdxaj0\\\"}\",\"sequence_number\":25}\n\nevent: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"output_index\":3,\"item\":{\"id\":\"fc_e8f37aa051aee8cd0000000003\",\"type\":\"function_call\",\"status\":\"completed\",\"arguments\":\"{\\\"key\\\":\\\"c\\\",\\\"ref\\\":\\\"c-sdxaj0\\\"}\",\"call_id\":\"call_uNHFXqgrI0FRtyUfZwOQf6KV\",\"name\":\"lookup\"},\"sequence_number\":26}\n\n",
    "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_e8f37aa051aee8cd00000000\",\"object\":\"response\",\"created_at\":1790000000,\"status\":\"completed\",\"background\":false,\"error\":null,\"incomplete_details\":null,\"instructions\":null,\"max_output_tokens\":null,\"model\":\"gpt-5\",\"output\":[{\"id\":\"msg_e8f37aa051aee8cd0000000000\",\"type\":\"message\",\"status\":\"completed\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"Let me look these up.\"}]},{\"id\":\"fc_e8f37aa051aee8cd0000000001\",\"type\":\"function_call\",\"status\":\"completed\",\"arguments\":\"{\\\"key\\\":\\\"a\\\",\\\"ref\\\":\\\"a-k5dr5b\\\"}\",\"call_id\":\"call_tMpmrMWh2BuFoaQjOXhrIbbH\",\"name\":\"lookup\"},{\"id\":\"fc_e8f37aa051aee8cd0000000002\",\"type\":\"function_call\",\"status\":\"completed\",\"arguments\":\"{\\\"key\\\":\\\"b\\\",\\\"ref\\\":\\\"b-niv9zl\\\"}\",\"call_id\":\"call_vrzJ0XtcfBp8xq9KzcsP8A5r\",\"name\":\"cut\"},{\"id\":\"fc_e8f37aa051aee8cd0000000003\",\"type\":\"function_call\",\"status\":\"completed\",\"arguments\":\"{\\\"key\\\":\\\"c\\\",\\\"ref\\\":\\\"c-sdxaj0\\\"}\",\"call_id\":\"call_uNHFXqgrI0FRtyUfZwOQf6KV\",\"name\":\"lookup\"}],\"parallel_tool_calls\":true,\"previous_response_id\":null,\"reasoning\":{\"effort\":null,\"summary\":null},\"service_tier\":\"default\",\"store\":true,\"temperature\":1.0,\"text\":{\"format\":{\"type\":\"text\"}},\"tool_choice\":\"auto\",\"tools\":[],\"top_p\":1.0,\"truncation\":\"disabled\",\"usage\":{\"input_tokens\":12,\"input_tokens_details\":{\"cached_tokens\":0},\"output_tokens\":42,\"output_tokens_details\":{\"reasoning_tokens\":0},\"total_tokens\":54},\"user\":null,\"metadata\":{}},\"sequence_number\":27}\n\n",
  ] },
];
/** Any request after those gets a short text. */
const SPARE = {"status":200,"headers":{"content-type":"text/event-stream; charset=utf-8","x-request-id":"req_a007d363b877b52b00000000"},"frames":["event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_a007d363b877b52b00000000\",\"object\":\"response\",\"created_at\":1790000000,\"status\":\"in_progress\",\"background\":false,\"error\":null,\"incomplete_details\":null,\"instructions\":null,\"max_output_tokens\":null,\"model\":\"gpt-5\",\"output\":[],\"parallel_tool_calls\":true,\"previous_response_id\":null,\"reasoning\":{\"effort\":null,\"summary\":null},\"service_tier\":\"default\",\"store\":true,\"temperature\":1.0,\"text\":{\"format\":{\"type\":\"text\"}},\"tool_choice\":\"auto\",\"tools\":[],\"top_p\":1.0,\"truncation\":\"disabled\",\"usage\":null,\"user\":null,\"metadata\":{}},\"sequence_number\":0}\n\n","event: response.in_progress\ndata: {\"type\":\"response.in_progress\",\"response\":{\"id\":\"resp_a007d363b877b52b00000000\",\"object\":\"response\",\"created_at\":1790000000,\"status\":\"in_progress\",\"background\":false,\"error\":null,\"incomplete_details\":null,\"instructions\":null,\"max_output_tokens\":null,\"model\":\"gpt-5\",\"output\":[],\"parallel_tool_calls\":true,\"previous_response_id\":null,\"reasoning\":{\"effort\":null,\"summary\":null},\"service_tier\":\"default\",\"store\":true,\"temperature\":1.0,\"text\":{\"format\":{\"type\":\"text\"}},\"tool_choice\":\"auto\",\"tools\":[],\"top_p\":1.0,\"truncation\":\"disabled\",\"usage\":null,\"user\":null,\"metadata\":{}},\"sequence_number\":1}\n\n","event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"id\":\"msg_a007d363b877b52b0000000000\",\"type\":\"message\",\"status\":\"in_progress\",\"role\":\"assistant\",\"content\":[]},\"sequence_number\":2}\n\nevent: response.content_part.added\ndata: {\"type\":\"response.content_part.added\",\"item_id\":\"msg_a007d363b877b52b0000000000\",\"output_index\":0,\"content_index\":0,\"part\":{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"\"},\"sequence_number\":3}\n\n","event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"msg_a007d363b877b52b0000000000\",\"output_index\":0,\"content_index\":0,\"delta\":\"Done.\",\"logprobs\":[],\"sequence_number\":4}\n\n","event: response.output_text.done\ndata: {\"type\":\"response.output_text.done\",\"item_id\":\"msg_a007d363b877b52b0000000000\",\"output_index\":0,\"content_index\":0,\"text\":\"Done.\",\"logprobs\":[],\"sequence_number\":5}\n\nevent: response.content_part.done\ndata: {\"type\":\"response.content_part.done\",\"item_id\":\"msg_a007d363b877b52b0000000000\",\"output_index\":0,\"content_index\":0,\"part\":{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"Done.\"},\"sequence_number\":6}\n\nevent: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"id\":\"msg_a007d363b877b52b0000000000\",\"type\":\"message\",\"status\":\"completed\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"Done.\"}]},\"sequence_number\":7}\n\n","event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_a007d363b877b52b00000000\",\"object\":\"response\",\"created_at\":1790000000,\"status\":\"completed\",\"background\":false,\"error\":null,\"incomplete_details\":null,\"instructions\":null,\"max_output_tokens\":null,\"model\":\"gpt-5\",\"output\":[{\"id\":\"msg_a007d363b877b52b0000000000\",\"type\":\"message\",\"status\":\"completed\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"Done.\"}]}],\"parallel_tool_calls\":true,\"previous_response_id\":null,\"reasoning\":{\"effort\":null,\"summary\":null},\"service_tier\":\"default\",\"store\":true,\"temperature\":1.0,\"text\":{\"format\":{\"type\":\"text\"}},\"tool_choice\":\"auto\",\"tools\":[],\"top_p\":1.0,\"truncation\":\"disabled\",\"usage\":{\"input_tokens\":12,\"input_tokens_details\":{\"cached_tokens\":0},\"output_tokens\":42,\"output_tokens_details\":{\"reasoning_tokens\":0},\"total_tokens\":54},\"user\":null,\"metadata\":{}},\"sequence_number\":8}\n\n"],"ending":"complete"};

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
