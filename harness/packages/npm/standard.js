// Standard interruption tests to subclass, for vitest and node:test. The tests of each dated set are data, in `standard/`;
// `standard_play.js` carries them out. `brickbat/standard.py` does the same for pytest.
import { readdirSync, readFileSync } from "node:fs";
import { PATIENCE, Play, StandardFailure } from "./standard_play.js";

export { StandardFailure };

const SETS = new URL("./standard/", import.meta.url);

// Milliseconds for a test: a few waits in a row.
const TEST_TIMEOUT = 4 * PATIENCE;

/** Subclass this, and call `register` with the functions of your test runner. */
export class StandardInterruptionTests {
  requirements;
  dialect;
  lacks = {};
  expectedFailures = {};
  providerOptions = {};

  /** Makes an agent over `setup.store`. */
  makeAgent() {
    throw new TypeError(`${this.constructor.name} needs the method makeAgent(setup)`);
  }

  /** Registers the tests of the set with a runner. */
  static register({ describe, test }) {
    const own = new this();
    const { tests } = own.#read();
    describe(this.name, () => {
      for (const { name } of tests) {
        test(titled(name), { timeout: TEST_TIMEOUT }, (context) => own.#registered(name, context));
      }
    });
  }

  /** The names of the tests, and the reason why a test is skipped, if it is. */
  list() {
    return this.#read().tests.map((spec) => ({ name: spec.name, proves: spec.proves, skipped: this.#skipped(spec) }));
  }

  /** Runs one test, and throws if it fails. */
  async run(name) {
    const set = this.#read();
    const spec = set.tests.find((test) => test.name === name);
    if (!spec) throw new TypeError(`the set ${set.set} has no test ${name}`);
    const skipped = this.#skipped(spec);
    if (skipped) throw new TypeError(`${name} is skipped: ${skipped}`);
    const play = new Play(this, set, spec);
    try {
      await play.run();
    } finally {
      await play.close();
    }
  }

  async #registered(name, context) {
    const skipped = this.#skipped(this.#read().tests.find((test) => test.name === name));
    if (skipped) return void context.skip(skipped);
    const expected = this.expectedFailures[name];
    if (expected === undefined) return this.run(name);
    try {
      await this.run(name);
    } catch (error) {
      if (!(error instanceof StandardFailure)) throw error;
      return void context.skip(`fails as expected: ${expected}`);
    }
    throw new Error(`${name} passes; remove it from expectedFailures`);
  }

  #skipped({ needs = [], unless, not_in: notIn = [] }) {
    const lacked = needs.find((need) => this.lacks[need]);
    if (lacked) return `needs ${lacked}: ${this.lacks[lacked]}`;
    if (unless && !this.lacks[unless]) return `does not apply to an agent with the capability ${unless}`;
    return notIn.includes(this.dialect) ? `${this.dialect} sends a call in one piece` : undefined;
  }

  /** Reads the set that the class names, and checks the class. */
  #read() {
    const fail = (words) => {
      throw new TypeError(`${this.constructor.name}: ${words}`);
    };
    const known = readdirSync(SETS).map((file) => file.replace(/\.json$/, "")).sort();
    const newest = known.at(-1);
    if (this.requirements === undefined) fail(`name the set of tests, such as requirements = "${newest}"`);
    if (!known.includes(this.requirements)) {
      fail(`unknown requirements "${this.requirements}"; this version of brickbat has ${known.join(", ")}`);
    }
    const set = JSON.parse(readFileSync(new URL(`${this.requirements}.json`, SETS), "utf8"));
    if (this.dialect === undefined) fail('name the dialect that the agent speaks, such as dialect = "anthropic-messages"');
    for (const [lacked, reason] of Object.entries(this.lacks)) {
      if (!(lacked in set.capabilities)) {
        fail(`unknown capability "${lacked}" in lacks; expected ${Object.keys(set.capabilities).join(", ")}`);
      }
      if (typeof reason !== "string" || reason.trim() === "") fail(`lacks.${lacked} needs a reason`);
    }
    if (Object.keys(set.capabilities).every((capability) => this.lacks[capability])) {
      fail("the agent lacks every capability, so nothing can be interrupted");
    }
    const unknown = Object.keys(this.expectedFailures).find((name) => set.tests.every((test) => test.name !== name));
    if (unknown) fail(`expectedFailures names ${unknown}, which is not in ${set.set}`);
    return set;
  }
}

const titled = (name) => name.replaceAll("_", " ");
