// Tracks the open tool calls of a stream and writes results for them when the stream breaks off. Our own code, based on
// the description of pensarai/apex#778 and the review of pensarai/apex#779 and pensarai/apex#851.

/**
 * The versions of the tracker. `after` fixes all findings of the review. `before` has no tracker. Each of the others has
 * one of the findings.
 */
export const MODES = {
  before: undefined,
  after: {},
  // "Duplicate tool rows after finish-step": the tracker keeps results of steps that are already written.
  'duplicate-rows': { keepsResults: true },
  // "Tool errors lost on abort": an error closes its call at once, but is published only if the step ends.
  'errors-lost': { defersErrors: true },
  // Nothing is written if results have arrived and no call is open.
  'in-flight-only': { needsOpenCall: true },
};

const namesOf = (type, messages) => new Set(messages.flatMap(({ content }) => Array.isArray(content) ? content : [])
  .filter((part) => part.type === type).map(({ toolCallId }) => toolCallId));
const resultOf = ({ toolCallId, toolName }, output) => ({ type: 'tool-result', toolCallId, toolName, output });
const failure = (value) => ({ type: 'error-text', value });
// Turns a tool's return value or error into an output, as the SDK does.
const outputOf = ({ output }) => typeof output === 'string' ? { type: 'text', value: output } : { type: 'json', value: output };
const errorOf = ({ error }) => failure(error?.message ?? String(error));

/** The complete arguments, or an empty object if only a part arrived. */
function inputOf({ input, text }) {
  if (input !== undefined) return input;
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** Follows a stream. `tell` publishes a call's state on the bus. */
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
    // The SDK has written the step itself. "Tool call did not complete."
    'finish-step': () => {
      for (const id of [...deferred, ...open]) tell(id, 'failed');
      open.clear();
      deferred = [];
      if (!rules.keepsResults) completed = [];
    },
  };
  return {
    see: (chunk) => see[chunk.type]?.(chunk),
    /** The file's messages after the stream has broken off: `base` plus what had arrived of the step. */
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
