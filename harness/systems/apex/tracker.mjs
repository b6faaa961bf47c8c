// Which tool calls of a stream are open, and what is written of them when it breaks off. Own code, written from the
// description of pensarai/apex#778 and from the review of pensarai/apex#779 and pensarai/apex#851.

/**
 * What a version of the tracker does. `after` is the repair with all that was found in its review mended; each of
 * the others has one of those findings, and `before` has no tracker at all.
 */
export const MODES = {
  before: undefined,
  after: {},
  // "Duplicate tool rows after finish-step": results stay with the tracker when their step has long been written.
  'duplicate-rows': { keepsResults: true },
  // "Tool errors lost on abort": an error closes its call at once, and is told when the step ends, if it ends.
  'errors-lost': { defersErrors: true },
  // Nothing is written where results have come and no call is open.
  'in-flight-only': { needsOpenCall: true },
};

const namesOf = (type, messages) => new Set(messages.flatMap(({ content }) => Array.isArray(content) ? content : [])
  .filter((part) => part.type === type).map(({ toolCallId }) => toolCallId));
const resultOf = ({ toolCallId, toolName }, output) => ({ type: 'tool-result', toolCallId, toolName, output });
const failure = (value) => ({ type: 'error-text', value });
// As the SDK turns what a tool returned, or threw, into an output.
const outputOf = ({ output }) => typeof output === 'string' ? { type: 'text', value: output } : { type: 'json', value: output };
const errorOf = ({ error }) => failure(error?.message ?? String(error));

/** The arguments as far as they came, or none where they came in part. */
function inputOf({ input, text }) {
  if (input !== undefined) return input;
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** Follows a stream; `tell` says a call's state to whoever listens on the bus. */
export function track(rules, tell) {
  const calls = new Map();
  const open = new Set();
  let completed = [];
  let deferred = [];
  const begin = (id, toolName, more) => {
    calls.set(id, { toolCallId: id, toolName, ...more });
    open.add(id);
  };
  const complete = ({ toolCallId }, output, state) => {
    open.delete(toolCallId);
    completed.push(resultOf(calls.get(toolCallId), output));
    tell(toolCallId, state);
  };
  const see = {
    'tool-input-start': ({ id, toolName }) => begin(id, toolName, { text: '' }),
    'tool-input-delta': ({ id, delta }) => { calls.get(id).text += delta; },
    'tool-call': ({ toolCallId, toolName, input }) => begin(toolCallId, toolName, { input }),
    'tool-result': (chunk) => complete(chunk, outputOf(chunk), 'completed'),
    'tool-error': (chunk) => {
      if (!rules.defersErrors) return complete(chunk, errorOf(chunk), 'failed');
      open.delete(chunk.toolCallId);
      deferred.push(chunk.toolCallId);
    },
    // The SDK has written the step by itself. "Tool call did not complete."
    'finish-step': () => {
      for (const id of [...deferred, ...open]) tell(id, 'failed');
      open.clear();
      deferred = [];
      if (!rules.keepsResults) completed = [];
    },
  };
  return {
    see: (chunk) => see[chunk.type]?.(chunk),
    /** What the file holds when the stream has broken off: `base`, and what had come of the step. */
    close(base, reason) {
      if (open.size === 0 && (rules.needsOpenCall || completed.length === 0)) return base;
      const [called, answered] = [namesOf('tool-call', base), namesOf('tool-result', base)];
      for (const id of open) tell(id, 'failed');
      const aborted = [...open].map((id) => resultOf(calls.get(id), failure(`Tool execution aborted: ${reason}`)));
      const results = [...completed, ...aborted].filter(({ toolCallId }) => rules.keepsResults || !answered.has(toolCallId));
      const ended = namesOf('tool-result', [{ content: results }]);
      const missing = [...calls.values()].filter(({ toolCallId: id }) => ended.has(id) && !called.has(id));
      const content = missing.map((call) =>
        ({ type: 'tool-call', toolCallId: call.toolCallId, toolName: call.toolName, input: inputOf(call) }));
      const written = [{ role: 'assistant', content }, { role: 'tool', content: results }];
      return [...base, ...written.filter((message) => message.content.length > 0)];
    },
  };
}
