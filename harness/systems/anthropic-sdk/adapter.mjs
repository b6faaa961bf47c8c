// Lets Brickbat drive the tool runner of Anthropic's SDK for TypeScript.
import Anthropic, { APIUserAbortError } from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { VERSION as version } from '@anthropic-ai/sdk/version';
import { gate, serve } from 'brickbat-adapter';

const MAJOR = Number(version.split('.')[0]);
const gated = (given) => betaTool({
  name: given.name,
  description: given.description,
  inputSchema: given.inputSchema,
  run: (input, { signal }) => gate(given, input, signal),
});
// More steps than any scenario has. It bounds a system that never stops calling the model.
const MAX_STEPS = 20;
// Tools that the provider runs.
const SEARCH = { type: 'web_search_20250305', name: 'web_search', max_uses: 5 };
// The runner's messages are the conversation. They are stored when a reply begins (the runner yields then), when the loop
// has ended without an error and, except in `steps`, when it has failed.
const MODES = {
  finished: {},
  steps: { dropsFailed: true },
  eager: { settings: { runToolsEagerly: true } },
};

/** Shows the results that are new in the conversation. */
function tellResults(messages, show) {
  for (const block of messages.flatMap(({ content }) => Array.isArray(content) ? content : [])) {
    if (block.type === 'tool_result') show(block.tool_use_id, block.is_error ? 'failed' : 'completed');
  }
}

/** A reply that ends inside a call is not stored: the application must request it again with more tokens. */
const endsInCall = ({ stop_reason: reason, content }) => reason === 'max_tokens' && content.at(-1)?.type === 'tool_use';

/** @type {import('brickbat-adapter').Turn} */
async function turn({ spec, store, repaired }, text, signal, show) {
  const { dropsFailed, settings } = MODES[spec.mode];
  const messages = [...store.load([]), { role: 'user', content: text }];
  store.save(messages);
  const runner = new Anthropic({ baseURL: spec.baseUrl, apiKey: 'none' }).beta.messages.toolRunner({
    model: spec.model ?? 'claude-haiku-4-5',
    max_tokens: 4096,
    max_iterations: spec.maxSteps ?? MAX_STEPS,
    messages,
    tools: [...spec.tools.map(gated), ...(spec.search ? [SEARCH] : [])],
    stream: true,
    ...(spec.thinking && { thinking: { type: 'enabled', budget_tokens: 1024 } }),
    // From version 1 on, the provider keeps the conversation by default.
    ...(MAJOR >= 1 && { thread: false }),
    ...settings,
  }, { signal });
  let nTold = messages.length;
  const tell = () => {
    tellResults(runner.params.messages.slice(nTold), show);
    nTold = runner.params.messages.length;
  };
  let raised;
  try {
    for await (const stream of runner) {
      tell();
      store.save(runner.params.messages);
      // The SDK reports no state for a running call, so nothing is shown before the result.
      for await (const _ of stream);
      if (endsInCall(await stream.finalMessage())) {
        repaired('drop-cut-call');
        return { raised: { name: 'Error', message: 'the reply ends at max_tokens, within a call' } };
      }
    }
  } catch (error) {
    raised = error;
  }
  tell();
  if (!dropsFailed || !raised) store.save(runner.params.messages);
  if (raised instanceof APIUserAbortError) return { cancelled: true };
  // Errors of this SDK differ by class only: they all have the same name.
  return { raised: raised && { name: raised.constructor.name, message: raised.message } };
}

const picture = ({ mediaType, data }) => ({ type: 'image', source: { type: 'base64', media_type: mediaType, data } });

/** The result block of a call. Its content includes the picture, if there is one. */
const result = ({ id, text, isError, picture: shown }) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: shown ? [...(text ? [{ type: 'text', text }] : []), picture(shown)] : text,
  ...(isError && { is_error: true }),
});

/** A block of the model's reply. If the store has lost a signature, the field is missing. */
const block = ({ text, call, thinking }) => {
  if (thinking) return { type: 'thinking', thinking: thinking.text, signature: thinking.signature };
  if (text !== undefined) return { type: 'text', text };
  return { type: 'tool_use', id: call.id, name: call.tool, input: call.args };
};

/** Converts a given history to the messages of a request. */
const give = (history) => history.map(({ user, assistant, results, picture: shown }) => {
  if (user !== undefined) return { role: 'user', content: user };
  if (shown) return { role: 'user', content: [picture(shown)] };
  return results ? { role: 'user', content: results.map(result) } : { role: 'assistant', content: assistant.map(block) };
});
const capabilities = {
  history: true, changes: { tools: true }, sharedSession: true, thinking: true, stepLimit: true, serverTools: true,
  givenThinking: true, givenPictures: true, givenOrphans: true, givenRawArguments: true,
};
serve({ sdk: '@anthropic-ai/sdk', version, modes: Object.keys(MODES) }, ['anthropic-messages'], turn, { capabilities, give });
