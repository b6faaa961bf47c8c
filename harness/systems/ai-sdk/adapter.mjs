// Lets Brickbat drive the AI SDK as a chat application does: `streamText`, a stream of UI messages to the user, and a file
// as the store. This file is the application; its calls of the SDK are in v5.mjs, v6.mjs and v7.mjs.
import { existsSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gate, serve } from 'brickbat-adapter';
import { consumers } from './events.mjs';
import * as modelMessages from './model-messages.mjs';
import { DIALECTS, modelOf } from './models.mjs';
import * as uiMessages from './ui-messages.mjs';

globalThis.AI_SDK_LOG_WARNINGS = false;
const { version } = createRequire(import.meta.url)('ai/package.json');
/** @type {typeof import('./v7.mjs')} */
const sdk = await import(`./v${version.split('.')[0]}.mjs`);

/** The form of the stored messages, and how a request restores them and stores the reply. */
const MODES = {
  'ui-messages': {
    messages: uiMessages,
    send: (request) => sdk.uiMessages(request, request.wasStopped ? sdk.AFTER_STOP : {}),
  },
  'ui-messages-clean': {
    messages: uiMessages,
    send: (request) => sdk.uiMessages(request, { ignoreIncompleteToolCalls: true }),
  },
  'response-messages': { messages: modelMessages, send: sdk.responseMessages },
};
/** The state of a call that the user sees. */
const STATES = {
  'tool-input-start': 'pending', 'tool-input-available': 'in_progress', 'tool-input-error': 'failed',
  'tool-approval-request': 'pending', 'tool-output-denied': 'failed',
  'tool-output-available': 'completed', 'tool-output-error': 'failed',
};

/** The file that records that the user has stopped a turn, which an application would record in its database. */
const stoppedMark = ({ id, spec }) => join(spec.stateDir, `${id}.stopped`);

/**
 * A turn: requests, until the user has no question to answer and no call to run.
 * @type {import('brickbat-adapter').Turn}
 */
async function turn(session, text, stop, show, ask) {
  const { spec, store } = session;
  const { messages } = MODES[spec.mode];
  stop.addEventListener('abort', () => writeFileSync(stoppedMark(session), ''));
  const before = store.load([]);
  // Stored before the SDK is called, so that no later failure can lose it.
  store.save([...before, messages.userMessage(text, before.length)]);
  for (;;) {
    const { end, questions, clientCalls } = await request(session, stop, show);
    if (end.raised || end.cancelled || questions.length + clientCalls.length === 0) return end;
    await Promise.all(clientCalls.map(async (call) => {
      const result = await runOnPage(spec, call, stop);
      if (!result) return;
      store.save(messages.withResult(store.load([]), result));
      show(call.toolCallId, result.errorText === undefined ? 'completed' : 'failed');
    }));
    const asked = await Promise.all(questions.map(async ({ approvalId, toolCallId }) =>
      ({ id: approvalId, approved: await ask(toolCallId) })));
    const answers = asked.filter(({ approved }) => approved !== undefined);
    if (asked.length > 0) store.save(messages.withAnswers(store.load([]), answers, asked.length));
    // The SDK is idle while the user is asked, so the stop reaches only the application.
    if (stop.aborted) return { cancelled: true };
  }
}

/** Sends the stored messages. Returns how the request ended, and what the user has to do before the next one. */
async function request(session, abortSignal, show) {
  const { spec, store } = session;
  const questions = [];
  const clientCalls = [];
  const wasStopped = existsSync(stoppedMark(session));
  const ignores = spec.mode === 'ui-messages' && sdk.AFTER_STOP.ignoreIncompleteToolCalls;
  if (wasStopped && ignores) session.repaired('ignore-incomplete-calls');
  const isOnPage = (name) => spec.tools.some((given) => given.name === name && given.client);
  let raised, cancelled, interrupted;
  const onError = ({ error }) => { raised ??= error; };
  try {
    const stream = await MODES[spec.mode].send({
      options: { ...sdk.options(spec), model: modelOf(spec), abortSignal, onError },
      stored: store.load([]),
      save: store.save,
      wasStopped,
    });
    for await (const chunk of stream) {
      cancelled ||= chunk.type === 'abort';
      // From 7.0.149 on: "Check `finishReason === 'interrupted'` to detect incomplete responses".
      interrupted ||= chunk.type === 'finish' && chunk.finishReason === 'interrupted';
      if (chunk.type === 'tool-approval-request' && !chunk.isAutomatic) questions.push(chunk);
      if (chunk.type === 'tool-input-available' && isOnPage(chunk.toolName)) clientCalls.push(chunk);
      show(chunk.toolCallId, STATES[chunk.type], chunk.toolName);
    }
  } catch (error) {
    raised ??= error;
  }
  // A stop can also surface as the signal's own error.
  if (abortSignal.aborted && raised?.name === 'AbortError') return { end: { cancelled: true } };
  if (interrupted) raised ??= { name: 'interrupted', message: 'the finish reason is `interrupted`' };
  return { end: raised ? { raised } : { cancelled }, questions, clientCalls };
}

/** Runs a call in the user's page. Returns nothing if the user stops before the result. */
async function runOnPage({ tools }, { toolCallId, toolName, input }, stop) {
  try {
    const output = await gate(tools.find(({ name }) => name === toolName), input, stop);
    return { toolCallId, toolName, output };
  } catch (error) {
    if (error.kind) return { toolCallId, toolName, errorText: error.message };
    if (!stop.aborted) throw error;
  }
}

serve({ sdk: 'ai', version, modes: Object.keys(MODES) }, DIALECTS, turn, {
  capabilities: { sharedSession: true, clientTools: true, changes: { provider: true, tools: true }, ...sdk.CAPABILITIES },
  give: (history, { mode }) => MODES[mode].messages.given(history),
  stored: ({ store }) => store.load([]),
  events: consumers,
});
