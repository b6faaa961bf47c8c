// Lets Brickbat drive TanStack AI: chat() with the SDK's own provider adapters, behind a ChatClient or a StreamProcessor.
import { readFileSync } from 'node:fs';
import { chat, maxIterations, StreamProcessor, toolDefinition } from '@tanstack/ai';
import { createAnthropicChat } from '@tanstack/ai-anthropic';
import { ChatClient, stream } from '@tanstack/ai-client';
import { createChatDevtoolsBridge } from '@tanstack/ai-client/devtools';
import { createOpenaiChat, createOpenaiChatCompletions } from '@tanstack/ai-openai';
import { gate, serve } from './protocol.mjs';

// The package does not export its package.json.
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.resolve('@tanstack/ai'))));

const MODELS = {
  'anthropic-messages': ({ baseUrl }) => createAnthropicChat('claude-haiku-4-5', 'test', { baseURL: baseUrl }),
  'openai-chat': ({ baseUrl }) => createOpenaiChatCompletions('gpt-4.1', 'test', { baseURL: `${baseUrl}/v1` }),
  'openai-responses': ({ baseUrl }) => createOpenaiChat('gpt-5', 'test', { baseURL: `${baseUrl}/v1` }),
};
// More steps than any scenario has; the SDK's own default is 5.
const MAX_STEPS = 20;

const onServer = (tool) => toolDefinition({
  name: tool.name, description: tool.description, inputSchema: tool.inputSchema,
}).server((input, context) => gate(tool, input, context?.abortSignal));

/** The server's half: one chat(), as a route has it. */
function answered({ spec }, messages, abortController, end) {
  return chat({
    adapter: MODELS[spec.dialect](spec),
    messages,
    tools: spec.tools.map(onServer),
    abortController,
    agentLoopStrategy: maxIterations(MAX_STEPS),
    // Nothing in the stream tells of a stop, but chat() tells its middleware.
    middleware: [{ name: 'outcome', onAbort: () => { end.cancelled = true; } }],
  });
}

/** Shows each call in the state that its part of the message has: this is what a user interface renders. */
const STATES = { 'awaiting-input': 'pending', 'input-streaming': 'pending', 'input-complete': 'in_progress',
  'approval-requested': 'pending', 'approval-responded': 'in_progress', complete: 'completed', error: 'failed' };
function shower(session, show, stored) {
  const calls = (messages) => messages.flatMap(({ parts }) => parts).filter(({ type }) => type === 'tool-call');
  // What is known from the turns before is not told again.
  session.told ??= new Map(calls(stored).map(({ id, state }) => [id, state]));
  return (messages) => {
    for (const { id, name, state } of calls(messages)) {
      if (session.told.get(id) !== state) show(id, STATES[state], name);
      session.told.set(id, state);
    }
  };
}

/** A server that keeps the messages of its StreamProcessor: those of the user at once, the others when the stream ends. */
async function server(session, text, _stop, show) {
  const end = {};
  const stored = session.store.load([]);
  const processor = new StreamProcessor({
    initialMessages: stored,
    events: { onMessagesChange: shower(session, show, stored), onError: (error) => { end.raised ??= error; } },
  });
  processor.addUserMessage(text);
  session.store.save(processor.getMessages());
  try {
    await processor.process(answered(session, processor.getMessages(), session.stop, end));
  } catch (error) {
    end.raised ??= error;
  }
  session.store.save(processor.getMessages());
  return end;
}

/** What was handed to a ChatClient and has still to be consumed: it takes one chunk in a turn of the timers. */
const waiting = new Set();
async function settled() {
  while (waiting.size > 0) await new Promise((resolve) => setImmediate(resolve));
}

/** The ChatClient of a session, which keeps its messages by its own persistence, at every change. */
function clientOf(session) {
  const connection = stream(async function* (messages, _data, signal) {
    const controller = new AbortController();
    signal?.addEventListener('abort', () => controller.abort());
    for await (const chunk of answered(session, messages, controller, session.turn.end)) {
      waiting.add(chunk);
      yield chunk;
    }
  });
  return new ChatClient({
    id: session.id,
    threadId: session.id,
    connection,
    persistence: {
      getItem: () => session.store.load(undefined),
      setItem: (_, kept) => session.store.save(kept),
      removeItem: () => session.store.save(null),
    },
    // As the SDK's own useChat has it. Without one the client of 0.28.0 throws: "mountWithTools is not a function".
    devtoolsBridgeFactory: createChatDevtoolsBridge,
    onChunk: (chunk) => waiting.delete(chunk),
    onMessagesChange: (messages) => session.turn?.shown(messages),
  });
}

async function client(session, text, stop, show) {
  session.client ??= clientOf(session);
  session.turn = { end: {}, shown: shower(session, show, session.client.getMessages()) };
  stop.addEventListener('abort', () => session.client.stop());
  await session.client.sendMessage(text);
  await settled();
  return { ...session.turn.end, raised: session.client.getError() };
}

const MODES = { client, server };
serve({ sdk: '@tanstack/ai', version, modes: Object.keys(MODES) }, Object.keys(MODELS),
  (session, ...turn) => MODES[session.spec.mode](session, ...turn), { settled });
