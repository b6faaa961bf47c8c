// Feeds the chunks that chat() sends to the code that makes messages of them: the SDK's StreamProcessor and, in the version
// that speaks AG-UI, the AG-UI client.
import * as sdk from '@tanstack/ai';

// Only the folder of 0.58.0 has the AG-UI client. It is loaded when it is needed.
const hasAgUi = (() => {
  try {
    return Boolean(import.meta.resolve('@ag-ui/client'));
  } catch {
    return false;
  }
})();

const RUN = { threadId: 'thread', runId: 'run' };
// In 0.58.0, fields of a chunk that AG-UI does not know are sent as its metadata.
const IS_SPEC = sdk.normalizeStreamChunk !== undefined;
const wired = IS_SPEC ? sdk.normalizeStreamChunk : (chunk) => [chunk];
const parent = IS_SPEC ? { parentMessageId: 'assistant' } : {};

let nResults = 0;
/** @type {(event: import('brickbat-adapter').Event, known: import('brickbat-adapter').Known) => any} */
function chunkOf({ type, call: toolCallId, text, failed }, { tool }) {
  switch (type) {
    case 'start': return { type: 'TOOL_CALL_START', toolCallId, toolCallName: tool, toolName: tool, ...parent };
    case 'arguments': return { type: 'TOOL_CALL_ARGS', toolCallId, delta: text };
    case 'ready': return { type: 'TOOL_CALL_END', toolCallId, toolCallName: tool, toolName: tool };
    case 'result': return { type: 'TOOL_CALL_RESULT', toolCallId, role: 'tool', messageId: `result-${nResults++}`,
      ...(failed ? { content: JSON.stringify({ error: text }), state: 'output-error' } : { content: text }) };
    case 'finish': return { type: 'RUN_FINISHED', ...RUN, finishReason: 'stop' };
  }
}

const STATES = { 'awaiting-input': 'streaming', 'input-streaming': 'streaming', 'input-complete': 'ready',
  complete: 'succeeded', error: 'failed' };

/** The state is that of the call's part, which a user interface renders. The result is in a separate part. */
function storedParts({ parts }) {
  const resultOf = (id) => parts.find(({ type, toolCallId }) => type === 'tool-result' && toolCallId === id);
  return parts.filter(({ type }) => type === 'tool-call').map(({ id, state, arguments: text }) => {
    const result = resultOf(id);
    return { call: id, state: STATES[state], arguments: text, result: result?.error ?? result?.content };
  });
}

function streamProcessor() {
  let source, raised;
  const onError = (error) => { raised ??= error; };
  const stream = new ReadableStream({ start: (controller) => { source = controller; } });
  const processor = new sdk.StreamProcessor({ events: { onError } });
  processor.process(stream).catch(onError);
  const put = (chunk) => wired(chunk).forEach((one) => source.enqueue(one));
  put({ type: 'RUN_STARTED', ...RUN });
  return {
    feed: (event, known) => put(chunkOf(event, known)),
    end: () => source.close(),
    stored: () => processor.getMessages().flatMap(storedParts),
    error: () => raised,
  };
}

/**
 * The calls and results in the messages. A message has no state: a call is ready once the client has reported it to its
 * subscriber. AG-UI's event has no field for a failed result, so TanStack AI marks it in the metadata.
 */
function storedMessages(messages, complete) {
  const stored = messages.flatMap(({ toolCalls = [] }) => toolCalls).map(({ id, function: { arguments: text } }) =>
    ({ call: id, state: complete.has(id) ? 'ready' : 'streaming', arguments: text }));
  for (const { toolCallId: call, content, metadata } of messages.filter(({ role }) => role === 'tool')) {
    let own = stored.find((one) => one.call === call && one.result === undefined);
    if (!own) stored.push(own = { call });
    const failed = metadata?.tanstack?.state === 'output-error';
    own.state = failed ? 'failed' : 'succeeded';
    own.result = failed ? JSON.parse(content).error : content;
  }
  return stored;
}

/** An AG-UI agent whose run emits the fed chunks. */
async function agUiClient() {
  const { AbstractAgent } = await import('@ag-ui/client');
  const { Subject } = await import('rxjs');
  const source = new Subject();
  const complete = new Set();
  let raised;
  const agent = new (class extends AbstractAgent { run = () => source; })({ threadId: RUN.threadId });
  const onNewToolCall = ({ toolCall }) => { complete.add(toolCall.id); };
  agent.runAgent({ runId: RUN.runId }, { onNewToolCall }).catch((error) => { raised ??= error; });
  // The run begins in a later turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  const put = (chunk) => wired(chunk).forEach((one) => source.next(one));
  put({ type: 'RUN_STARTED', ...RUN });
  return {
    feed: (event, known) => put(chunkOf(event, known)),
    end: () => source.complete(),
    stored: () => storedMessages(agent.messages, complete),
    error: () => raised,
  };
}

export const consumers = { 'stream-processor': streamProcessor, ...(hasAgUi && { 'ag-ui-client': agUiClient }) };
