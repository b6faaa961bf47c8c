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

/** The server's half. Its stream does not report a stop, but its middleware does. */
const answer = ({ spec }, messages, abortController, end) => chat({
  adapter: MODELS[spec.dialect](spec),
  messages,
  tools: spec.tools.map(gated),
  abortController,
  agentLoopStrategy: maxIterations(MAX_STEPS),
  middleware: [{ name: 'outcome', onAbort: () => { end.cancelled = true; } }],
});

/** Shows each call in the state of its message part, which a user interface renders. */
const STATES = { 'awaiting-input': 'pending', 'input-streaming': 'pending', 'input-complete': 'in_progress',
  'approval-requested': 'pending', 'approval-responded': 'in_progress', complete: 'completed', error: 'failed' };
function shower(session, show, stored) {
  const calls = (messages) => messages.flatMap(({ parts }) => parts).filter(({ type }) => type === 'tool-call');
  // States from earlier turns are not shown again.
  session.told ??= new Map(calls(stored).map(({ id, state }) => [id, state]));
  return (messages) => calls(messages).forEach(({ id, name, state }) => {
    if (session.told.get(id) !== state) show(id, STATES[state], name);
    session.told.set(id, state);
  });
}

/** A server that stores the messages of its StreamProcessor at every change. */
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

/** The turns whose ChatClient may still have chunks to consume. It consumes one in each turn of the timers. */
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
  /** The route of the quick start. As with any fetch, aborting the request ends its response. */
  client: (session) => fetchServerSentEvents('http://localhost/api/chat', { async fetchClient(_url, { body, signal }) {
    const abortController = new AbortController();
    const chunks = counted(session, JSON.parse(body).messages, abortController);
    const response = toServerSentEventsResponse(chunks, { abortController });
    signal.addEventListener('abort', () => { session.turn.closed = true; });
    return new Response(response.body.pipeThrough(new TransformStream(), { signal }), response);
  } }),
  /** The stream itself, as from a server function. Chunks after a stop still arrive. */
  'client-direct': (session) => stream((messages, _data, signal) => {
    const controller = new AbortController();
    signal.addEventListener('abort', () => controller.abort());
    return counted(session, messages, controller);
  }),
};

/** The ChatClient of a session. Its persistence stores the messages at every change. */
const clientOf = (session) => new ChatClient({
  id: session.id,
  threadId: session.id,
  connection: CONNECTIONS[session.spec.mode](session),
  persistence: { getItem: () => session.store.load(undefined), setItem: (_, kept) => session.store.save(kept) },
  // Same as in the SDK's useChat. Without it, the client of 0.28.0 throws "mountWithTools is not a function".
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
  // A stopped client reports only that it is ready, so a turn without `onFinish` was cancelled.
  return { cancelled: turn.cancelled || (stop.aborted && !turn.finished), raised: session.client.getError() };
}
const MODES = { client, server, 'client-direct': client };
serve({ sdk: '@tanstack/ai', version, modes: Object.keys(MODES) }, Object.keys(MODELS),
  (session, ...turn) => MODES[session.spec.mode](session, ...turn), {
    settled, give: given, events: consumers, capabilities: { changes: { provider: true } },
    // The server's half reads the model for each request.
    provider() {},
  });
