// Lets Brickbat drive the way Pensar Apex handles the AI SDK's stream: it publishes to a bus and keeps a file of messages.
import { streamText } from 'ai';
import { consumers } from './events.mjs';
import { given, userMessage } from './model-messages.mjs';
import { serve } from 'brickbat-adapter';
import { asked, eagerTools, endOf, models, version } from './sdk.mjs';
import { MODES, track } from './tracker.mjs';

// Call states that the bus publishes on arrival. With a tracker, the tracker publishes the end of a call.
const begun = { 'tool-input-start': 'pending', 'tool-call': 'in_progress' };
const ended = { 'tool-result': 'completed', 'tool-error': 'failed' };

// Apex retries errors with these messages, at most MAX_AGAIN times, and waits a second longer before each retry.
const OVERLOAD = /too many (tokens|requests)|rate limit|request rate|throttl|overloaded|please wait|service unavailable/i;
const MAX_AGAIN = 20;

/**
 * The full stream as Apex reads it: an error ends it, and after an overload the step is retried from its beginning.
 * `ask` streams a reply to messages and reports the messages at the beginning of each step.
 */
async function* fullStream(ask, messages) {
  for (let n = 1; ; n++) {
    let from = messages;
    try {
      for await (const chunk of ask(messages, (step) => { from = step; })) {
        if (chunk.type === 'error') throw chunk.error;
        yield chunk;
      }
      return;
    } catch (error) {
      if (n > MAX_AGAIN || !OVERLOAD.test(error?.message)) throw error;
    }
    messages = from;
    await new Promise((resolve) => setTimeout(resolve, 1000 * n));
  }
}

/** For a fed stream, `options` makes the SDK read it. @type {import('brickbat-adapter').Turn} */
async function turn({ spec, store, options }, text, signal, show) {
  const rules = MODES[spec.mode];
  const states = rules ? begun : { ...begun, ...ended };
  const initial = [...store.load([]), userMessage(text)];
  store.save(initial);
  const ask = (messages, begins) => {
    // Up to version 6, the messages of a step include those of earlier steps.
    const keep = ({ response }) => store.save([...messages, ...response.messages]);
    return streamText({
      ...asked(spec, signal),
      ...options,
      messages,
      maxRetries: 3,
      prepareStep: ({ messages: step }) => begins(step),
      onStepFinish: keep,
      onFinish: keep,
      onError: () => {},
    }).fullStream;
  };
  const tracker = rules && track(rules, show);
  let finished, aborted, raised;
  try {
    for await (const chunk of fullStream(ask, initial)) {
      finished ||= chunk.type === 'finish';
      aborted ||= chunk.type === 'abort';
      show(chunk.toolCallId ?? chunk.id, states[chunk.type], chunk.toolName);
      tracker?.see(chunk);
    }
  } catch (error) {
    raised ??= error;
  } finally {
    const reason = signal.aborted ? 'Agent aborted by user' : (raised?.message ?? 'Stream terminated unexpectedly');
    if (tracker && !finished) store.save(tracker.close(store.load([]), reason));
  }
  return endOf(signal, aborted, raised);
}

const capabilities = { eagerTools, history: true, sharedSession: true };
serve({ sdk: 'ai', version, modes: Object.keys(MODES) }, Object.keys(models), turn,
  { capabilities, give: given, events: consumers(turn) });
