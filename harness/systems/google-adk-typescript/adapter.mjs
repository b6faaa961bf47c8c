// Lets Brickbat drive Google's Agent Development Kit for TypeScript, the way an application uses it. See README.md.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  DatabaseSessionService, FunctionTool, Gemini, InMemorySessionService, LlmAgent, LlmSummarizer, Runner, StreamingMode,
  TokenBasedContextCompactor,
} from '@google/adk';
import { LibSqlDriver } from '@mikro-orm/libsql';
import { gate, serve } from 'brickbat-adapter';

const root = new URL('../../package.json', import.meta.resolve('@google/adk'));
const { version } = JSON.parse(readFileSync(root, 'utf8'));
const [appName, userId] = ['brickbat', 'user'];
// The name of the call by which ADK asks for a confirmation, as "Get action confirmation for ADK Tools" has it.
const CONFIRMATION = 'adk_request_confirmation';

/** A tool of the scenario, with its schema as it is. */
class Gated extends FunctionTool {
  constructor(given) {
    super({
      name: given.name,
      description: given.description,
      requireConfirmation: given.asks,
      execute: (input, context) => run(given, input, context.abortSignal),
    });
    this.schema = given.inputSchema;
  }

  _getDeclaration() {
    return { name: this.name, description: this.description, parametersJsonSchema: this.schema };
  }
}

/** A tool answers with an object that has a status, also when it fails, as the guide on function tools has it. */
async function run(given, input, signal) {
  try {
    return { status: 'success', result: await gate(given, input, signal) };
  } catch (error) {
    if (error.kind === 'throw') throw error;
    return { status: 'error', error_message: error.message };
  }
}

/** Where the SDK keeps its sessions, and whether the model's replies are streams; without is the SDK's default. */
const MODES = {
  'database': {
    service: (folder) => new DatabaseSessionService({ driver: LibSqlDriver, dbName: join(folder, 'sessions.db') }),
    streamingMode: StreamingMode.NONE,
  },
  'memory-streamed': { service: () => new InMemorySessionService(), streamingMode: StreamingMode.SSE },
};

/** The service of each folder, and so of each session. */
const services = new Map();
function serviceOf({ stateDir, mode }) {
  if (!services.has(stateDir)) services.set(stateDir, MODES[mode].service(stateDir));
  return services.get(stateDir);
}

/** Has the SDK's compactor summarise the context before the next call of the model, when that was asked for. */
const compactorOf = (session, llm) => ({
  shouldCompact: () => session.keep !== undefined,
  async compact(context) {
    const eventRetentionSize = session.keep;
    session.keep = undefined;
    const summarizer = new LlmSummarizer({ llm });
    await new TokenBasedContextCompactor({ tokenThreshold: 1, eventRetentionSize, summarizer }).compact(context);
  },
});

// Tokens from which on the SDK's compactor compacts by itself: more than any scenario has, if its provider does not say otherwise.
const tokenThreshold = 100_000;

/** Between turns what the user says next is one more event. The SDK cannot leave none. */
function act(session, { change: { keep } }) {
  session.keep = session.isRunning ? Math.max(keep, 1) : keep + 1;
}

async function runnerOf(open) {
  const { id, spec } = open;
  const model = new Gemini({ model: spec.model ?? 'gemini-3-pro-preview', apiKey: 'x' });
  const httpOptions = { baseUrl: spec.baseUrl };
  // A summary is asked for outside of the agent, whose configuration has the address.
  const llm = { generateContentAsync: (asked, ...how) => model.generateContentAsync({ ...asked, config: { httpOptions } }, ...how) };
  const agent = new LlmAgent({
    name: 'assistant',
    model,
    contextCompactors: [
      compactorOf(open, llm),
      new TokenBasedContextCompactor({ tokenThreshold, eventRetentionSize: 1, summarizer: new LlmSummarizer({ llm }) }),
    ],
    tools: spec.tools.map((given) => new Gated(given)),
    generateContentConfig: { httpOptions },
  });
  const sessionService = serviceOf(spec);
  const session = { appName, userId, sessionId: id };
  if (!(await sessionService.getSession(session))) await sessionService.createSession(session);
  return new Runner({ appName, agent, sessionService });
}

/** @type {import('brickbat-adapter').Turn} */
async function turn(session, text, abortSignal, show, ask) {
  const { id, spec } = session;
  const runner = await runnerOf(session);
  const runConfig = { streamingMode: MODES[spec.mode].streamingMode, ...(spec.maxSteps && { maxLlmCalls: spec.maxSteps }) };

  /** Runs the agent to its end, or to the questions that it puts to the user. */
  async function run(parts) {
    const questions = new Map();
    let raised;
    const events = runner.runAsync({ userId, sessionId: id, newMessage: { role: 'user', parts }, runConfig, abortSignal });
    for await (const event of events) {
      if (event.partial) continue;
      for (const { functionCall, functionResponse } of event.content?.parts ?? []) {
        if (functionCall?.name === CONFIRMATION) questions.set(functionCall.id, functionCall.args.originalFunctionCall.id);
        // The SDK reports no state for a running call.
        if (functionResponse && !event.actions?.requestedToolConfirmations?.[functionResponse.id]) {
          show(functionResponse.id, functionResponse.response.status === 'success' ? 'completed' : 'failed', functionResponse.name);
        }
      }
      // The SDK reports a model error as an event instead of throwing it.
      if (event.errorCode) raised = Object.assign(new Error(event.errorMessage), { name: String(event.errorCode) });
    }
    if (raised) throw raised;
    return questions;
  }

  session.isRunning = true;
  try {
    let questions = await run([{ text }]);
    while (questions.size) {
      const answers = await Promise.all([...questions.values()].map(ask));
      // The SDK is idle while the user is asked, so the stop reaches only the application.
      if (abortSignal.aborted) return { cancelled: true };
      questions = await run([...questions.keys()].map((asked, i) => (
        { functionResponse: { id: asked, name: CONFIRMATION, response: { confirmed: Boolean(answers[i]) } } })));
    }
    return {};
  } catch (raised) {
    return { raised };
  } finally {
    session.isRunning = false;
  }
}

const stored = async ({ id, spec }) =>
  (await serviceOf(spec).getSession({ appName, userId, sessionId: id }))?.events ?? [];

serve({ sdk: '@google/adk', version, modes: Object.keys(MODES) }, ['gemini'], turn,
  { stored, act,
    capabilities: { approvals: true, stepLimit: true, sharedSession: true, changes: { automatic: true, summarise: true, inFlight: true } } });
