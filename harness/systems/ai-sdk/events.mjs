// Feeds chunks of a UI message stream to the SDK's reader, as an application that reads such a stream does.
import { readUIMessageStream } from 'ai';

const STATES = { 'input-streaming': 'streaming', 'input-available': 'ready',
  'output-available': 'succeeded', 'output-error': 'failed' };

/** @type {(event: import('brickbat-adapter').Event, known: import('brickbat-adapter').Known) => any[]} */
function chunksOf({ type, call: toolCallId, text, failed }, { tool: toolName, input }) {
  switch (type) {
    case 'start': return [{ type: 'tool-input-start', toolCallId, toolName }];
    case 'arguments': return [{ type: 'tool-input-delta', toolCallId, inputTextDelta: text }];
    case 'ready': return [{ type: 'tool-input-available', toolCallId, toolName, input }];
    case 'result': return failed ? [{ type: 'tool-output-error', toolCallId, errorText: text }]
      : [{ type: 'tool-output-available', toolCallId, output: text }];
    case 'finish': return [{ type: 'finish-step' }, { type: 'finish' }];
  }
}

/** A part has the parsable prefix of its arguments while they stream, and no input before the first of them. */
const storedOf = ({ toolCallId, state, input, output, errorText }) =>
  ({ call: toolCallId, state: STATES[state], arguments: JSON.stringify(input), result: output ?? errorText });

/** Holds the last message read. */
function uiMessages() {
  let source, raised;
  let parts = [];
  const stream = new ReadableStream({ start: (controller) => { source = controller; } });
  const read = async () => {
    // The reader reports an error to this handler and ends. It does not throw.
    const onError = (error) => { raised ??= error; };
    for await (const message of readUIMessageStream({ stream, onError })) parts = message.parts;
  };
  read().catch((error) => { raised ??= error; });
  const put = (chunks) => chunks.forEach((chunk) => source.enqueue(chunk));
  put([{ type: 'start', messageId: 'assistant' }, { type: 'start-step' }]);
  return {
    feed: (event, known) => put(chunksOf(event, known)),
    end: () => source.close(),
    stored: () => parts.filter(({ toolCallId }) => toolCallId !== undefined).map(storedOf),
    error: () => raised,
  };
}

export const consumers = { 'ui-messages': uiMessages };
