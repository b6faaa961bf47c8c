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
// The call by which ADK asks for a confirmation, named in "Get action confirmation for ADK Tools".
const CONFIRMATION = 'adk_request_confirmation';

/** A tool of the scenario, with its schema unchanged. */
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

/** Runs a tool. Its response is an object with a status even when it fails, as the guide on function tools recommends. */
async function run(given, input, signal) {
  try {
    return { status: 'success', result: await gate(given, input, signal) };
  } catch (error) {
    if (error.kind === 'throw') throw error;
    return { status: 'error', error_message: error.message };
  }
}

/** The SDK's session service, and whether replies are streamed (by default they are not). */
const MODES = {
  'database': {
    service: (folder) => new DatabaseSessionService({ driver: LibSqlDriver, dbName: join(folder, 'sessions.db') }),
    streamingMode: StreamingMode.NONE,
  },
  'memory-streamed': { service: () => new InMemorySessionService(), streamingMode: StreamingMode.SSE },
};

/** The service of each session, by its folder. */
const services = new Map();
function serviceOf({ stateDir, mode }) {
  if (!services.has(stateDir)) services.set(stateDir, MODES[mode].service(stateDir));
  return services.get(stateDir);
}

/** Makes the SDK's compactor summarise the context before the next model request if a compaction was requested. */
const compactorOf = (session, llm) => ({
  shouldCompact: () => session.keep !== undefined,
  async compact(context) {
    const eventRetentionSize = session.keep;
    session.keep = undefined;
    const summarizer = new LlmSummarizer({ llm });
    await new TokenBasedContextCompactor({ tokenThreshold: 1, eventRetentionSize, summarizer }).compact(context);
  },
});

// Token count at which the SDK's compactor compacts by itself: more than any scenario has unless its provider reports more.
const tokenThreshold = 100_000;

/** Between turns, the next user message is one more event to keep. The SDK always keeps at least one. */
function act(session, { change: { keep } }) {
  session.keep = session.isRunning ? Math.max(keep, 1) : keep + 1;
}

async function runnerOf(open) {
  const { id, spec } = open;
  const model = new Gemini({ model: spec.model ?? 'gemini-3-pro-preview', apiKey: 'x' });
  const httpOptions = { baseUrl: spec.baseUrl };
  // The summary request does not use the agent's configuration, so it needs the address too.
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

  /** Runs the agent until it ends or asks the user. */
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
