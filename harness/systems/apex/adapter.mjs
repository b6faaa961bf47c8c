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

/** Where the stream is fed, `options` has the SDK take it. @type {import('brickbat-adapter').Turn} */
async function turn({ spec, store, options }, text, signal, show) {
  const rules = MODES[spec.mode];
  const states = rules ? begun : { ...begun, ...ended };
  const initial = [...store.load([]), said(text)];
  store.save(initial);
  // Up to version 6 the messages of a step hold those of the steps before it.
  const keep = ({ response }) => store.save([...initial, ...response.messages]);
  const tracker = rules && track(rules, show);
  let finished, aborted, raised;
  try {
    const result = streamText({
      ...asked(spec, signal),
      ...options,
      messages: initial,
      onStepFinish: keep,
      onFinish: keep,
      onError: ({ error }) => { raised ??= error; },
    });
    for await (const chunk of result.fullStream) {
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
