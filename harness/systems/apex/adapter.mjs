// Lets Brickbat drive what Pensar Apex does with the stream of the AI SDK: it tells a bus, and keeps a file of messages.
import { streamText } from 'ai';
import { consumers } from './events.mjs';
import { modelMessages } from './given.mjs';
import { serve } from 'brickbat-adapter';
import { asked, eagerTools, endOf, models, version } from './sdk.mjs';
import { MODES, track } from './tracker.mjs';

// What the bus tells of a call as soon as it comes. With a tracker its end is told by the tracker.
const begun = { 'tool-input-start': 'pending', 'tool-call': 'in_progress' };
const ended = { 'tool-result': 'completed', 'tool-error': 'failed' };
const said = (text) => ({ role: 'user', content: text });

// What Apex asks again for, by the words of the error: so often, and after a second more each time.
const OVERLOAD = /too many (tokens|requests)|rate limit|request rate|throttl|overloaded|please wait|service unavailable/i;
const MAX_AGAIN = 20;

/**
 * The full stream as Apex reads it: an error ends it, and after an overload the provider is asked again from where the
 * step began. `ask` streams an answer to messages, and says of each step where it begins.
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

/** Where the stream is fed, `options` has the SDK take it. @type {import('brickbat-adapter').Turn} */
async function turn({ spec, store, options }, text, signal, show) {
  const rules = MODES[spec.mode];
  const states = rules ? begun : { ...begun, ...ended };
  const initial = [...store.load([]), said(text)];
  store.save(initial);
  const ask = (messages, begins) => {
    // Up to version 6 the messages of a step hold those of the steps before it.
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

const give = (history) => modelMessages(history, said);
const capabilities = { eagerTools, history: true, sharedSession: true };
serve({ sdk: 'ai', version, modes: Object.keys(MODES) }, Object.keys(models), turn,
  { capabilities, give, events: consumers(turn) });
