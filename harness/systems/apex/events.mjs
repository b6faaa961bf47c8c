// Feeds a turn with the parts of a full stream in place of those that the SDK makes from a model's reply. The turn is that
// of adapter.mjs: the SDK records the steps, the tracker follows, and the file of messages is stored.
import { MODES } from './tracker.mjs';

// Its reply is empty: the parts of the stream are inserted after it.
const model = { specificationVersion: 'v3', provider: 'none', modelId: 'none', supportedUrls: {},
  doStream: async () => ({ stream: new ReadableStream() }) };
const stop = { finishReason: 'stop', rawFinishReason: 'stop' };

/** @type {(event: import('brickbat-adapter').Event, known: import('brickbat-adapter').Known) => any[]} */
function partsOf({ type, call: id, text, failed }, { tool: toolName, input }) {
  const call = { toolCallId: id, toolName, input };
  switch (type) {
    case 'start': return [{ type: 'tool-input-start', id, toolName }];
    case 'arguments': return [{ type: 'tool-input-delta', id, delta: text }];
    case 'ready': return [{ type: 'tool-input-end', id }, { type: 'tool-call', ...call }];
    case 'result': return failed ? [{ type: 'tool-error', ...call, error: new Error(text) }]
      : [{ type: 'tool-result', ...call, output: text }];
    case 'finish': return [{ type: 'finish-step', ...stop, usage: {}, response: {} },
      { type: 'finish', ...stop, totalUsage: {} }];
  }
}

/** Recognizes, by its text, the entry that the tracker writes for a call without a result. */
function stateOf({ type, value }) {
  if (type !== 'error-text') return 'succeeded';
  return value.startsWith('Tool execution aborted: ') ? 'interrupted' : 'failed';
}

/** Pairs each call with its first unused result. A result without a call is listed on its own. */
function storedOf(messages) {
  const stored = [];
  for (const { type, toolCallId: call, input, output } of messages.flatMap(({ content }) => content)) {
    if (type === 'tool-call') stored.push({ call, state: 'ready', arguments: JSON.stringify(input) });
    if (type !== 'tool-result') continue;
    let own = stored.find((one) => one.call === call && one.result === undefined);
    if (!own) stored.push(own = { call });
    Object.assign(own, { state: stateOf(output), result: output.value });
  }
  return stored;
}

/** One consumer for each mode. */
export const consumers = (turn) => Object.fromEntries(Object.keys(MODES).map((mode) => [mode, () => {
  let source, raised;
  let kept = [];
  const readable = new ReadableStream({ start: (controller) => { source = controller; } });
  const put = (parts) => parts.forEach((part) => source.enqueue(part));
  const session = {
    spec: { mode, dialect: 'openai-chat', tools: [] },
    store: { load: () => kept, save: (messages) => { kept = messages; } },
    options: { model, experimental_transform: () => ({ readable, writable: new WritableStream() }) },
  };
  put([{ type: 'start' }, { type: 'start-step', request: {}, warnings: [] }]);
  turn(session, 'Begin.', new AbortController().signal, () => {}).then((ended) => { raised = ended.raised; });
  return {
    feed: (event, known) => put(partsOf(event, known)),
    end: () => source.close(),
    stored: () => storedOf(kept),
    error: () => raised,
  };
}]));
