// Runs one of the standard interruption tests on an agent.
import { AssertionError } from "node:assert";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StrictProvider } from "./test.js";
import { problems } from "./standard_checks.js";

// Milliseconds to wait for events that normally take far less. Not used for measurements.
export const PATIENCE = 30_000;

// Rounds of the event loop in which a settled result reaches the agent's own code, through its promises.
const ROUNDS = 10;

// The maximum length of an error in a message. The provider's own message is printed in full.
const MAX_WORDS = 200;

const HINT = "If the agent cannot do this, name the capability in lacks";

// The number of plain replies after the turns of a test. A retry uses one up.
const SPARE_REPLIES = 8;

/** The agent failed a test. */
export class StandardFailure extends AssertionError {}

/** One run of one test. */
export class Play {
  #tests;
  #spec;
  #set;
  #folder = mkdtempSync(join(tmpdir(), "brickbat-standard-"));
  #store = join(this.#folder, "store");
  #provider;
  #agent;
  #armed;
  #turn;
  #controller;
  #said = 0;
  #held = new Set();
  #deaf = new Set();
  #gates = new Map();
  #waiters = new Set();
  /** The facts for the checks. */
  #facts = { runs: [], said: [], raised: [], calls: [], texts: [], startedAfterStop: [], nRequestsAfterStop: 0 };

  constructor(tests, set, spec) {
    [this.#tests, this.#set, this.#spec] = [tests, set, spec];
  }

  async run() {
    const { follow_ups: followUps } = this.#set;
    await this.#start();
    for (const step of this.#spec.steps) await this.#step(step);
    for (const text of followUps) await this.#followUp(text);
    const found = problems(this.#spec.expect ?? [], {
      ...this.#facts,
      report: await this.#provider.report(),
      refusals: await this.#provider.problems(),
      histories: await this.#provider.histories(),
      expectsFault: this.#turns().some((turn) => turn.at),
    });
    if (found.length > 0) throw this.#failure(found);
  }

  async close() {
    for (const gate of this.#gates.values()) gate.open();
    try {
      await this.#agent?.close?.();
    } finally {
      await this.#provider?.stop();
      rmSync(this.#folder, { recursive: true, force: true });
    }
  }

  async #start() {
    const turns = this.#turns();
    const { greeting, answers } = this.#set;
    const spare = Array.from({ length: SPARE_REPLIES }, (_, k) => ({ user: `${k}`, replies: [[{ text: answers[k % answers.length] }]] }));
    const scenario = join(this.#folder, "scenario.yaml");
    mkdirSync(this.#store);
    writeFileSync(scenario, JSON.stringify({ schema: 1, tools: this.#tools(), turns: [greeting, ...turns, ...spare] }));
    for (const { call, text } of turns.flatMap(({ replies }) => replies.flatMap((reply) => reply.blocks ?? reply))) {
      if (call) this.#facts.calls.push(call);
      if (text) this.#facts.texts.push(text);
    }
    this.#provider = await StrictProvider.start({ ...this.#tests.providerOptions, scenario });
    if (!(this.#tests.dialect in this.#provider.baseUrls)) {
      throw new TypeError(`unknown dialect "${this.#tests.dialect}"; expected ${Object.keys(this.#provider.baseUrls).join(", ")}`);
    }
    await this.#makeAgent();
    this.#say(greeting.user);
    const { error } = await this.#ended();
    if (error) throw new Error(`a plain turn without calls failed, so the agent cannot be judged: ${inWords(error)}`, { cause: error });
    if ((await this.#provider.report()).requests === 0) {
      throw new Error(`a plain turn sent no request to ${this.#provider.baseUrls[this.#tests.dialect]}, so the agent cannot be judged`);
    }
  }

  #turns() {
    return this.#spec.turns ?? this.#set.turns;
  }

  #tools() {
    return this.#spec.tools ?? this.#set.tools;
  }

  async #makeAgent() {
    const tools = Object.entries(this.#tools()).filter(([, tool]) => !tool.missing).map(([name, tool]) => ({
      name,
      description: `${name}: reads an order and changes nothing.`,
      parameters: { type: "object", properties: { key: { type: "string" } }, required: ["key"] },
      run: (args, options) => this.#called(name, tool, args, options?.signal),
    }));
    this.#agent = await this.#tests.makeAgent({
      baseURL: this.#provider.baseUrls[this.#tests.dialect],
      dialect: this.#tests.dialect,
      store: this.#store,
      tools,
      provider: this.#provider,
    });
    if (typeof this.#agent?.turn !== "function") throw new TypeError("makeAgent has to return an object with the method turn(text, { signal })");
  }

  async #step(step) {
    const [word, ...rest] = step.split(" ");
    switch (word) {
      case "hold":
        return rest.forEach((name) => this.#held.add(name));
      case "deaf":
        return rest.forEach((name) => this.#deaf.add(name));
      case "arm":
        this.#armed = await this.#provider.stopAt(rest.slice(1).join(" "));
        return;
      case "fault":
        await this.#provider.fault(rest[0], rest.slice(1).join(" "));
        return;
      case "say":
        return this.#say(this.#turns()[this.#said++].user);
      case "reached":
        return this.#until(this.#armed.reached({ timeout: PATIENCE }), `\`${this.#armed.words}\``);
      case "started":
        return this.#started(rest[0]);
      case "settle":
        return this.#settle(rest[0]);
      case "stop":
        return this.#stop();
      case "end":
        return this.#end();
      case "fresh":
        await this.#agent.close?.();
        return this.#makeAgent();
      default:
        throw new Error(`the set ${this.#set.set} contains the unknown step ${step}`);
    }
  }

  #say(text) {
    this.#facts.said.push(text);
    this.#controller = new AbortController();
    const { signal } = this.#controller;
    const turn = { error: undefined, stopped: undefined };
    turn.end = Promise.resolve()
      .then(() => this.#agent.turn(text, { signal }))
      .catch((error) => (turn.error = error ?? new Error("thrown without an error")))
      .then(() => this.#changed());
    this.#turn = turn;
  }

  async #followUp(text) {
    this.#say(text);
    const { error } = await this.#ended();
    if (error) this.#facts.raised.push(`the turn "${text}" failed: ${inWords(error)}`);
  }

  async #stop() {
    await rounds();
    this.#turn.stopped = { nRequests: (await this.#provider.report()).requests, nRuns: this.#facts.runs.length };
    this.#controller.abort();
    // A client that ignores the stop would wait for the rest of the reply.
    await this.#armed?.release();
    await rounds();
  }

  async #end() {
    // Tools that the agent does not stop finish late.
    for (const name of [...this.#held]) this.#open(name);
    const { stopped } = await this.#ended();
    if (!stopped) return;
    this.#facts.nRequestsAfterStop += (await this.#provider.report()).requests - stopped.nRequests;
    this.#facts.startedAfterStop.push(...this.#facts.runs.slice(stopped.nRuns));
  }

  async #ended() {
    const turn = this.#turn;
    await within(turn.end, () => this.#failure([`the turn "${this.#facts.said.at(-1)}" did not end in ${PATIENCE / 1000} s`]));
    return turn;
  }

  async #started(name) {
    await this.#when(() => this.#facts.runs.some((run) => run.call === name), `the start of call ${name}`);
  }

  async #settle(name) {
    await this.#started(name);
    this.#open(name);
    const isSettled = () => this.#facts.runs.some((run) => run.call === name && run.isOver);
    await this.#when(isSettled, `the end of call ${name}`, { evenAfterTurn: true });
    await rounds();
  }

  #open(name) {
    this.#held.delete(name);
    this.#gates.get(name)?.open();
  }

  /** A tool that the agent runs. */
  async #called(tool, outcome, args, signal) {
    const call = this.#facts.calls.find((call) => call.tool === tool && call.args && call.args.key === args?.key)?.as;
    const run = { tool, args, call, isFinished: false, isOver: false, isLate: false };
    const turn = this.#turn;
    this.#facts.runs.push(run);
    this.#changed();
    if (call !== undefined && this.#held.has(call)) {
      if (!this.#gates.has(call)) this.#gates.set(call, gate());
      const stopped = this.#deaf.has(call) ? undefined : signal;
      try {
        await released(this.#gates.get(call), stopped);
      } catch (error) {
        run.isOver = true;
        this.#changed();
        throw error;
      }
    }
    Object.assign(run, { isFinished: outcome.throws === undefined, isOver: true, isLate: turn.stopped !== undefined });
    this.#changed();
    if (outcome.throws !== undefined) throw new Error(outcome.throws);
    return outcome.returns.replace("{key}", args?.key);
  }

  #changed() {
    for (const waiter of [...this.#waiters]) waiter();
  }

  /** Waits for a fact. The end of the turn is an error, because then the fact does not come. */
  async #when(isTrue, words, { evenAfterTurn = false } = {}) {
    let waiter;
    const come = new Promise((resolve) => {
      waiter = () => isTrue() && resolve();
      this.#waiters.add(waiter);
      waiter();
    });
    try {
      if (isTrue()) return;
      await (evenAfterTurn ? within(come, () => this.#failure([`${words} did not come`])) : this.#until(come, words));
    } finally {
      this.#waiters.delete(waiter);
    }
  }

  async #until(come, words) {
    const over = this.#turn.end.then(() => "over");
    const late = () => this.#failure([`${words} did not come in ${PATIENCE / 1000} s. ${HINT}`]);
    // An event that came with the end of the turn counts.
    const first = await within(Promise.race([come.then(() => "come"), over]), late);
    if (first === "come") return;
    const { error } = this.#turn;
    const how = error ? `failed before ${words}: ${inWords(error)}` : `ended before ${words}. ${HINT}`;
    throw this.#failure([`the turn ${how}`, ...(await this.#provider.problems())]);
  }

  #failure(found) {
    const { proves } = this.#spec;
    return new StandardFailure({ message: `${proves}\n${found.map((words) => `- ${words}`).join("\n")}`, stackStartFn: Play.prototype.run });
  }
}

function gate() {
  const made = {};
  made.opened = new Promise((resolve) => (made.open = resolve));
  return made;
}

/** Waits for a gate, or throws as soon as the stop is passed on. */
function released({ opened }, signal) {
  if (!signal) return opened;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    opened.then(resolve).finally(() => signal.removeEventListener("abort", stop));
  });
}

async function rounds() {
  for (let k = 0; k < ROUNDS; k++) await new Promise(setImmediate);
}

async function within(promise, late) {
  let timer;
  const up = new Promise((_, reject) => {
    timer = setTimeout(() => reject(late()), PATIENCE);
  });
  try {
    return await Promise.race([promise, up]);
  } finally {
    clearTimeout(timer);
  }
}

function inWords(error) {
  const words = `${error?.name ?? "Error"}: ${error?.message ?? error}`;
  return words.length > MAX_WORDS ? `${words.slice(0, MAX_WORDS)}…` : words;
}
