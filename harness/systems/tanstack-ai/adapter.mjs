// Lets Brickbat drive TanStack AI: chat() with the SDK's own provider adapters, behind what a user interface stores.
import { readFileSync } from 'node:fs';
import { chat, maxIterations, StreamProcessor, toolDefinition, toServerSentEventsResponse } from '@tanstack/ai';
import { createAnthropicChat } from '@tanstack/ai-anthropic';
import { ChatClient, fetchServerSentEvents, stream } from '@tanstack/ai-client';
import { createChatDevtoolsBridge } from '@tanstack/ai-client/devtools';
import { createOpenaiChat, createOpenaiChatCompletions } from '@tanstack/ai-openai';
import { consumers } from './events.mjs';
import { given } from './given.mjs';
import { gate, serve } from 'brickbat-adapter';

// The package does not export its package.json.
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.resolve('@tanstack/ai'))));
const MODELS = {
  'anthropic-messages': ({ baseUrl, model = 'claude-haiku-4-5' }) =>
    createAnthropicChat(model, 'test', { baseURL: baseUrl }),
  'openai-chat': ({ baseUrl, model = 'gpt-4.1' }) =>
    createOpenaiChatCompletions(model, 'test', { baseURL: `${baseUrl}/v1` }),
  'openai-responses': ({ baseUrl, model = 'gpt-5' }) =>
    createOpenaiChat(model, 'test', { baseURL: `${baseUrl}/v1` }),
};
// More steps than any scenario has. The SDK's default is 5.
const MAX_STEPS = 20;
const gated = ({ name, description, inputSchema, ...tool }) => toolDefinition({ name, description, inputSchema })
  .server((input, context) => gate(tool, input, context?.abortSignal));

/** The server's half. Nothing in its stream tells of a stop, but its middleware is told. */
const answer = ({ spec }, messages, abortController, end) => chat({
  adapter: MODELS[spec.dialect](spec),
  messages,
  tools: spec.tools.map(gated),
  abortController,
  agentLoopStrategy: maxIterations(MAX_STEPS),
  middleware: [{ name: 'outcome', onAbort: () => { end.cancelled = true; } }],
});

/** Shows each call in the state that its part of the message has: this is what a user interface renders. */
const STATES = { 'awaiting-input': 'pending', 'input-streaming': 'pending', 'input-complete': 'in_progress',
  'approval-requested': 'pending', 'approval-responded': 'in_progress', complete: 'completed', error: 'failed' };
function shower(session, show, stored) {
  const calls = (messages) => messages.flatMap(({ parts }) => parts).filter(({ type }) => type === 'tool-call');
  // What is known from the turns before is not told again.
  session.told ??= new Map(calls(stored).map(({ id, state }) => [id, state]));
  return (messages) => calls(messages).forEach(({ id, name, state }) => {
    if (session.told.get(id) !== state) show(id, STATES[state], name);
    session.told.set(id, state);
  });
}

/** A server that keeps the messages of its StreamProcessor at every change. */
async function server(session, text, _stop, show) {
  const end = {};
  const stored = session.store.load([]);
  const shown = shower(session, show, stored);
  const onMessagesChange = (messages) => {
    shown(messages);
    session.store.save(messages);
  };
  const events = { onMessagesChange, onError: (error) => { end.raised ??= error; } };
  const processor = new StreamProcessor({ initialMessages: stored, events });
  processor.addUserMessage(text);
  session.store.save(processor.getMessages());
  try {
    await processor.process(answer(session, processor.getMessages(), session.stop, end));
  } catch (error) {
    end.raised ??= error;
  }
  session.store.save(processor.getMessages());
  return end;
}

/** The turns whose ChatClient may have something to consume: it takes one chunk in a turn of the timers. */
const running = new Set();
async function settled() {
  const isBusy = ({ waiting, closed }) => waiting > 0 && !closed;
  while ([...running].some(isBusy)) await new Promise((resolve) => setImmediate(resolve));
}
async function* counted(session, messages, controller, turn = session.turn) {
  for await (const chunk of answer(session, messages, controller, turn)) {
    turn.waiting += 1;
    yield chunk;
  }
}

const CONNECTIONS = {
  /** A route as the quick start has it. As with any fetch, its answer breaks off when the client does. */
  client: (session) => fetchServerSentEvents('http://localhost/api/chat', { async fetchClient(_url, { body, signal }) {
    const abortController = new AbortController();
    const chunks = counted(session, JSON.parse(body).messages, abortController);
    const response = toServerSentEventsResponse(chunks, { abortController });
    signal.addEventListener('abort', () => { session.turn.closed = true; });
    return new Response(response.body.pipeThrough(new TransformStream(), { signal }), response);
  } }),
  /** The stream itself, as from a server function. What comes after a stop still arrives. */
  'client-direct': (session) => stream((messages, _data, signal) => {
    const controller = new AbortController();
    signal.addEventListener('abort', () => controller.abort());
    return counted(session, messages, controller);
  }),
};

/** The ChatClient of a session, which keeps its messages by its own persistence, at every change. */
const clientOf = (session) => new ChatClient({
  id: session.id,
  threadId: session.id,
  connection: CONNECTIONS[session.spec.mode](session),
  persistence: { getItem: () => session.store.load(undefined), setItem: (_, kept) => session.store.save(kept) },
  // As the SDK's own useChat has it. Without one the client of 0.28.0 throws: "mountWithTools is not a function".
  devtoolsBridgeFactory: createChatDevtoolsBridge,
  onChunk: () => { session.turn.waiting -= 1; },
  onMessagesChange: (messages) => session.turn?.shown(messages),
  onFinish: () => { session.turn.finished = true; },
});

async function client(session, text, stop, show) {
  session.client ??= clientOf(session);
  const turn = { shown: shower(session, show, session.client.getMessages()), waiting: 0 };
  running.add(session.turn = turn);
  session.onStop = () => session.client.stop();
  await session.client.sendMessage(text);
  await settled();
  running.delete(turn);
  // A client that was stopped says nothing but that it is ready: a turn without `onFinish` was cancelled.
  return { cancelled: turn.cancelled || (stop.aborted && !turn.finished), raised: session.client.getError() };
}
const MODES = { client, server, 'client-direct': client };
serve({ sdk: '@tanstack/ai', version, modes: Object.keys(MODES) }, Object.keys(MODELS),
  (session, ...turn) => MODES[session.spec.mode](session, ...turn), {
    settled, give: given, events: consumers, capabilities: { changes: { provider: true } },
    // The server's half reads the model with each request.
    provider() {},
  });
