// A strict provider for unit tests: it runs `brickbat serve`, controlled by JSON lines. Histories are checked in process.
import { AssertionError } from "node:assert";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { BrickbatError } from "brickbat-rules";
import { binary } from "./bin/binary.js";

export { assertHistory, BrickbatError } from "brickbat-rules";

// Milliseconds to wait for events that normally take far less. Not used for measurements.
const PATIENCE = 30_000;

const UNREACHED =
  "replies to requests that offer tools are counted, a reply calls two or three tools, and one that is not streamed has " +
  "only its headers";

/**
 * Starts a strict provider for a test. With the context of a node:test or vitest test, it is checked and closed at the end
 * of the test. Without one, call `close`.
 */
export async function strictProvider(context, options = {}) {
  const atEnd = context?.onTestFinished ?? context?.after;
  if (context && !atEnd) {
    throw new TypeError("expected the context of a vitest or node:test test; without one, pass undefined and call close()");
  }
  const provider = await StrictProvider.start(options);
  atEnd?.call(context, async () => {
    try {
      await provider.close();
    } catch (error) {
      // A failed test keeps its own error, but this one is usually the cause.
      if (context.passed === false) context.diagnostic?.(error.message);
      throw error;
    }
  });
  return provider;
}

/** A stop or a fault at a point of a reply. */
class Armed {
  #provider;
  #number;
  #reached = deferred();

  constructor(provider, number, words) {
    this.#provider = provider;
    this.#number = number;
    this.words = words;
  }

  /** Waits until the point of a stop is reached. The reply then pauses there. */
  async reached({ timeout = PATIENCE } = {}) {
    const late = () => new BrickbatError(`\`${this.words}\` was not reached in ${timeout / 1000} s; ${UNREACHED}`);
    await this.#provider.awake(within(this.#reached.promise, timeout, late));
  }

  /** Resumes a paused reply. Not needed if the client has disconnected. */
  async release() {
    await this.#provider.ask({ order: "release", armed: this.#number });
  }

  /** The proof that it happened: `read` if the client had read everything sent before it. */
  async receipt() {
    return (await this.#provider.report()).orders[this.#number].receipt;
  }

  /** The outcome of the next request in that dialect: `accepted`, or the rule that it broke. */
  async followedBy() {
    return (await this.#provider.report()).orders[this.#number].then;
  }

  settle(error) {
    if (error) this.#reached.reject(error);
    else this.#reached.resolve();
  }
}

/** A strict provider on a free local port. It ends with this process, even after a crash. */
export class StrictProvider {
  #process;
  #said = "";
  #waiting = 0;
  #asked = new Map();
  #nextId = 0;
  #armed = new Map();
  #reached = new Set();
  #refusals = [];
  #unread = [];
  #ready = deferred();
  #ended = deferred();
  #gone;

  /** Starts a provider. */
  static async start({ allowRefusals = false, allowUnused = false, ...options } = {}) {
    const provider = new StrictProvider(words(options));
    provider.allowRefusals = allowRefusals;
    provider.allowUnused = allowUnused;
    const { url, base_urls: baseUrls, variables, without } = await provider.awake(provider.#ready.promise);
    return Object.assign(provider, { url, baseUrls, variables, without });
  }

  constructor(options) {
    this.#process = spawn(binary(), ["serve", "--port=0", "--control", ...options]);
    const { stdin, stdout, stderr } = this.#process;
    stderr.setEncoding("utf8").on("data", (text) => (this.#said += text));
    createInterface({ input: stdout }).on("line", (line) => this.#hear(JSON.parse(line)));
    // The process has ended, which the next request to it reports.
    stdin.on("error", () => {});
    this.#process.on("error", (error) => this.#over(error));
    this.#process.on("close", () => this.#over());
    this.#keep(false);
  }

  /** `baseURL` of the package `@anthropic-ai/sdk`. */
  get anthropic() {
    return this.baseUrls["anthropic-messages"];
  }

  /** `baseURL` of the package `openai`, for Chat Completions and Responses. */
  get openai() {
    return this.baseUrls["openai-chat"];
  }

  /** `baseUrl` in the HTTP options of the package `@google/genai`. */
  get gemini() {
    return this.baseUrls.gemini;
  }

  /** `endpoint` of the client of `@aws-sdk/client-bedrock-runtime`, configured for HTTP/1.1. */
  get bedrock() {
    return this.baseUrls["bedrock-converse"];
  }

  /** `serverURL` of the package `@mistralai/mistralai`. */
  get mistral() {
    return this.baseUrls.mistral;
  }

  /** Pauses a reply at a point, such as `after calls` or `after end a of reply 2`, so that you can stop the agent there. */
  stopAt(at) {
    return this.#arm("stop", at);
  }

  /** Injects a fault at a point of a reply, or, with `overloaded` and `rate-limit`, in its place. */
  fault(kind, at) {
    return this.#arm(kind, at);
  }

  /** The events so far. */
  async report() {
    const { requests, refused, exchanges, faults, orders, state } = await this.ask({ order: "report" });
    return { requests, refused, exchanges, faults, orders, state };
  }

  /** The first thousand rejected requests. */
  async refusals() {
    // Rejections are reported before the response to a later report request.
    await this.report();
    return [...this.#refusals];
  }

  /** The histories of the last hundred requests, in one form for all dialects. */
  async histories() {
    return (await this.ask({ order: "histories" })).histories;
  }

  /** The messages of the error that `check` throws. */
  async problems() {
    const { requests, refused, orders } = await this.report();
    const found = [];
    if (refused > 0 && !this.allowRefusals) {
      const told = this.#refusals.map((refusal) => `\n  ${inWords(refusal)}`).join("");
      found.push(`the strict provider refused ${refused === 1 ? "a request" : `${refused} requests`}${told}`);
    }
    if (requests === 0 && !this.allowUnused) {
      const told = this.#unread.map((words) => `\n  ${words}`).join("");
      found.push(`no request came to the strict provider at ${this.url}: nothing was judged${told}`);
    }
    for (const { words, receipt } of orders) {
      if (receipt === null) found.push(`\`${words}\` did not happen; ${UNREACHED}`);
    }
    return found;
  }

  /** Throws if a request was rejected, no request arrived, or an armed point was never reached. */
  async check() {
    const problems = await this.problems();
    if (problems.length > 0) throw new AssertionError({ message: problems.join("\n"), stackStartFn: this.check });
  }

  /** Runs `check`, then ends the provider even if it throws. */
  async close() {
    if (this.#gone) return;
    try {
      await this.check();
    } finally {
      await this.stop();
    }
  }

  /** Ends the provider without running `check`. */
  async stop() {
    this.#process.stdin.end();
    const ended = within(this.#ended.promise, PATIENCE, () => new BrickbatError("the strict provider did not exit"));
    await this.awake(ended).catch(() => this.#process.kill("SIGKILL"));
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    await this.close();
  }

  /** Keeps the test runner alive only during a wait, so that a forgotten provider does not block its exit. */
  async awake(promise) {
    this.#waiting += 1;
    this.#keep(true);
    try {
      return await promise;
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#keep(false);
    }
  }

  async ask(order) {
    if (this.#gone) throw this.#gone;
    const id = this.#nextId++;
    const answer = deferred();
    this.#asked.set(id, answer);
    this.#process.stdin.write(`${JSON.stringify({ ...order, id })}\n`);
    const { error, ...told } = await this.awake(answer.promise);
    if (error) throw new TypeError(error);
    return told;
  }

  async #arm(what, at) {
    const { armed: number } = await this.ask({ order: "arm", what, ...(at !== undefined && { at }) });
    const armed = new Armed(this, number, at === undefined ? what : `${what} ${at}`);
    this.#armed.set(number, armed);
    if (this.#reached.has(number)) armed.settle();
    if (this.#gone) armed.settle(this.#gone);
    return armed;
  }

  #hear({ said, ...told }) {
    if (said === "ready") this.#ready.resolve(told);
    if (said === "refused") this.#refusals.push(told);
    if (said === "unread") this.#unread.push(told.words);
    if (said === "answer") {
      this.#asked.get(told.id)?.resolve(told);
      this.#asked.delete(told.id);
    }
    if (said === "reached") {
      this.#reached.add(told.armed);
      this.#armed.get(told.armed)?.settle();
    }
  }

  #over(error) {
    const said = error?.message ?? this.#said.trim();
    this.#gone ??= new BrickbatError(`the strict provider has exited${said && `: ${said}`}`);
    this.#ended.resolve();
    this.#ready.reject(this.#gone);
    for (const answer of this.#asked.values()) answer.reject(this.#gone);
    for (const armed of this.#armed.values()) armed.settle(this.#gone);
  }

  #keep(awake) {
    const { stdin, stdout, stderr } = this.#process;
    for (const handle of [this.#process, stdin, stdout, stderr]) awake ? handle.ref?.() : handle.unref?.();
  }
}

/** Converts options to those of `brickbat serve`. */
function words({ faults, stall, ...options }) {
  const known = ["profile", "host", "model", "scenario", "seed", "rounds", "usage", "every"];
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown) throw new TypeError(`a strict provider has no option ${unknown}; it has ${known.join(", ")}, faults, stall, allowRefusals and allowUnused`);
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const told = given.map(([name, value]) => `--${name}=${value}`);
  if (stall !== undefined) told.push(`--stall=${stall}s`);
  if (faults) told.push(faults === true ? "--faults" : `--faults=${[faults].flat().join(",")}`);
  return told;
}

function inWords({ exchange, rule, pointer, profile, status, message, shape }) {
  const place = pointer || "the body";
  return `request ${exchange}: ${rule} at ${place} (${profile}, status ${status})\n    ${message}\n    ${shape}`;
}

/** Makes a promise with its `resolve` and `reject`. A rejection without a handler is ignored. */
function deferred() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  made.promise.catch(() => {});
  return made;
}

async function within(promise, timeout, late) {
  let timer;
  const up = new Promise((_, reject) => {
    timer = setTimeout(() => reject(late()), timeout);
  });
  try {
    return await Promise.race([promise, up]);
  } finally {
    clearTimeout(timer);
  }
}
