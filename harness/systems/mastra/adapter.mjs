// Lets Brickbat drive Mastra: an Agent whose Memory is in LibSQL, with one stream for each turn. See README.md.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { LibSQLStore } from '@mastra/libsql';
import { Memory } from '@mastra/memory';
import { gate, serve } from 'brickbat-adapter';

// The package does not export its package.json.
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.resolve('@mastra/core'))));
const DIALECTS = {
  'anthropic-messages': (baseURL, model = 'claude-haiku-4-5') => createAnthropic({ baseURL: `${baseURL}/v1`, apiKey: 'x' })(model),
  'openai-chat': (baseURL, model = 'gpt-4.1') => createOpenAI({ baseURL: `${baseURL}/v1`, apiKey: 'x' }).chat(model),
  'openai-responses': (baseURL, model = 'gpt-4.1') => createOpenAI({ baseURL: `${baseURL}/v1`, apiKey: 'x' }).responses(model),
  gemini: (baseURL, model = 'gemini-3-pro-preview') =>
    createGoogleGenerativeAI({ baseURL: `${baseURL}/v1beta`, apiKey: 'x' })(model),
};
/** When the SDK writes the messages of a run: at its end, or also with each step. */
const MODES = { run: {}, step: { savePerStep: true } };
// More steps than any scenario has. The SDK's default is 5.
const MAX_STEPS = 20;
const RESOURCE = 'user';

const gated = (given) => createTool({
  id: given.name,
  description: given.description,
  inputSchema: given.inputSchema,
  requireApproval: given.asks,
  execute: (input, { abortSignal }) => gate(given, input, abortSignal),
});

/** The database of a session, with the SDK's storage and memory. A process opens one for each folder. */
const databases = new Map();
function databaseOf({ stateDir }) {
  if (!databases.has(stateDir)) {
    const storage = new LibSQLStore({ id: 'storage', url: `file:${join(stateDir, 'mastra.db')}` });
    // The SDK's default is the last ten messages, and a call counts as one.
    databases.set(stateDir, { storage, memory: new Memory({ storage, options: { lastMessages: 1000 } }) });
  }
  return databases.get(stateDir);
}

function agentOf(spec) {
  const { storage, memory } = databaseOf(spec);
  const agent = new Agent({
    id: 'assistant',
    name: 'assistant',
    instructions: 'You are a helpful assistant.',
    model: DIALECTS[spec.dialect](spec.baseUrl, spec.model),
    tools: Object.fromEntries(spec.tools.map((given) => [given.name, gated(given)])),
    memory,
  });
  return new Mastra({ agents: { agent }, storage, logger: false }).getAgent('agent');
}

/** The stored messages of a thread. */
const recalled = async ({ id, spec }) =>
  (await databaseOf(spec).memory.recall({ threadId: id, resourceId: RESOURCE, perPage: false })).messages;

/** Cuts the recalled history from now on with `lastMessages` of each run. The storage keeps the rest. */
async function trim(session, keep) {
  session.store.save({ first: Math.max((await recalled(session)).length - keep, 0) });
}

/** The number of last messages that a run recalls, if the history was cut. */
async function lastMessagesOf(session) {
  const { first } = session.store.load({});
  return first ? { options: { lastMessages: (await recalled(session)).length - first } } : {};
}

/** Reads a stream to its end. Returns the calls that wait for approval and how the stream ended. */
async function read(stream, show) {
  const questions = [];
  /** @type {import('brickbat-adapter').End} */
  const end = {};
  for await (const { type, payload } of stream.fullStream) {
    if (type === 'tool-call') show(payload.toolCallId, 'in_progress', payload.toolName);
    else if (type === 'tool-result') show(payload.toolCallId, 'completed', payload.toolName);
    else if (type === 'tool-error') show(payload.toolCallId, 'failed', payload.toolName);
    else if (type === 'tool-call-approval') questions.push(payload.toolCallId);
    else if (type === 'error') end.raised = payload.error;
    else if (type === 'abort') end.cancelled = true;
  }
  return { questions, end };
}

/** @type {import('brickbat-adapter').Turn} */
async function turn(session, text, abortSignal, show, ask) {
  const { id, spec } = session;
  const agent = agentOf(spec);
  const options = {
    memory: { thread: id, resource: RESOURCE, ...await lastMessagesOf(session) }, abortSignal, maxSteps: spec.maxSteps ?? MAX_STEPS, ...MODES[spec.mode],
  };
  try {
    const stream = await agent.stream(text, options);
    let { questions, end } = await read(stream, show);
    while (questions.length) {
      const [toolCallId] = questions;
      const allowed = await ask(toolCallId);
      // The SDK is idle while the user is asked, so the stop reaches only the application.
      if (abortSignal.aborted) return { cancelled: true };
      const answer = { ...options, runId: stream.runId, toolCallId };
      const further = await (allowed ? agent.approveToolCall(answer) : agent.declineToolCall(answer));
      ({ questions, end } = await read(further, show));
    }
    return end;
  } catch (raised) {
    return abortSignal.aborted && raised === abortSignal.reason ? { cancelled: true } : { raised };
  }
}

/** Asks a question without tools and with a read-only memory. */
async function aside({ id, spec }, question) {
  const memory = { thread: id, resource: RESOURCE, options: { readOnly: true } };
  await read(await agentOf(spec).stream(question, { memory, toolChoice: 'none' }), () => {});
}

const act = (session, { change: { keep, question } }) =>
  question === undefined ? trim(session, keep) : aside(session, question);

serve({ sdk: '@mastra/core', version, modes: Object.keys(MODES) }, Object.keys(DIALECTS), turn,
  { stored: recalled, act,
    capabilities: { eagerTools: true, approvals: true, stepLimit: true, sharedSession: true, changes: { trim: true, aside: true, provider: true } } });
