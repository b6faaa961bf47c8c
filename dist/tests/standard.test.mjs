// Tests `brickbat/standard` on a right agent and on agents with planted bugs. Run it with `node --test`, or in vitest with
// the import of the runner changed.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { StandardFailure, StandardInterruptionTests } from "brickbat/standard";
import { Agent } from "./standard_agent.mjs";

// For each test, a bug that it catches.
const reds = JSON.parse(readFileSync(new URL("standard_reds.json", import.meta.url), "utf8"));

class RightAgent extends StandardInterruptionTests {
  requirements = "2026-12";
  dialect = "anthropic-messages";

  makeAgent(setup) {
    return new Agent(setup, this.bug);
  }
}

class OneAfterAnother extends RightAgent {
  lacks = { parallel: "calls run one after another" };
}

class WithoutSignal extends RightAgent {
  bug = "passes-no-signal";
}

RightAgent.register({ describe, test });
WithoutSignal.register({ describe, test });

describe("each test fails on an agent with a bug", () => {
  for (const [name, bug] of Object.entries(reds)) {
    test(`${name}: ${bug}`, async () => {
      const own = Object.assign(bug === "starts-after-stop" ? new OneAfterAnother() : new RightAgent(), { bug });
      await assert.rejects(own.run(name), StandardFailure);
    });
  }
});

test("the list of tests agrees with the set and with the bugs", () => {
  const set = JSON.parse(readFileSync(new URL("standard/2026-12.json", import.meta.resolve("brickbat/package.json")), "utf8"));
  const names = new RightAgent().list().map(({ name }) => name);
  assert.deepEqual(names, set.tests.map(({ name }) => name));
  assert.deepEqual(names, Object.keys(reds));
  const page = readFileSync(new URL("standard-tests.md", import.meta.url), "utf8");
  const needed = ({ needs = [], unless }) => [...needs.map((need) => `\`${need}\``), ...(unless ? [`no \`${unless}\``] : [])].join(", ");
  const rows = set.tests.map((spec) => `| \`${spec.name}\` | ${spec.proves} | ${needed(spec)} |`);
  assert.ok(page.includes(`\n${rows.join("\n")}\n<!-- end -->`), `the page has to list:\n${rows.join("\n")}`);
});

test("a class that cannot be run is an error", () => {
  const refused = (fields, words) => assert.throws(() => Object.assign(new RightAgent(), fields).list(), { name: "TypeError", message: words });
  refused({ requirements: undefined }, /name the set of tests, such as requirements = "20/);
  refused({ requirements: "1999-01" }, /unknown requirements "1999-01"; this version of brickbat has 2026-12/);
  refused({ dialect: undefined }, /name the dialect/);
  refused({ lacks: { stops: "none" } }, /unknown capability "stops" in lacks; expected stop, store, streaming, parallel/);
  refused({ lacks: { stop: "" } }, /lacks.stop needs a reason/);
  refused({ lacks: { stop: "a", store: "b", streaming: "c", parallel: "d" } }, /lacks every capability/);
  refused({ expectedFailures: { nothing: "known" } }, /expectedFailures names nothing, which is not in 2026-12/);
});

test("a test that cannot run is skipped with the reason, and a known failure as well", async () => {
  const stop = "a_stop_between_two_results_keeps_the_finished_result";
  class WithoutStop extends RightAgent {
    lacks = { stop: "there is no button" };
  }
  class Gemini extends RightAgent {
    dialect = "gemini";
  }
  class Known extends RightAgent {
    expectedFailures = { [stop]: "issue 7" };
  }
  class KnownAndRed extends Known {
    bug = "forgets-results";
  }
  const reasons = async (tests, name) => {
    const seen = [];
    const registered = [];
    tests.register({ describe: (_, body) => body(), test: (title, options, run) => registered.push({ title, run }) });
    await registered.find(({ title }) => title === name.replaceAll("_", " ")).run({ skip: (reason) => seen.push(reason) });
    return seen;
  };
  assert.deepEqual(await reasons(WithoutStop, stop), ["needs stop: there is no button"]);
  assert.deepEqual(await reasons(Gemini, "a_stop_inside_arguments_runs_nothing_with_them"), ["gemini sends a call in one piece"]);
  assert.deepEqual(await reasons(KnownAndRed, stop), ["fails as expected: issue 7"]);
  await assert.rejects(reasons(Known, stop), /passes; remove it from expectedFailures/);
});

test("an agent that cannot be judged is an error, not a failure", async () => {
  const own = new RightAgent();
  const refused = async (agent, words) => {
    own.makeAgent = () => agent;
    await assert.rejects(own.run("a_plain_turn_runs_each_call_once"), (error) => words.test(error.message) && !(error instanceof StandardFailure));
  };
  await refused({}, /has to return an object with the method turn/);
  await refused({ turn: () => {} }, /a plain turn sent no request to http/);
  await refused({ turn: () => Promise.reject(new Error("no key")) }, /a plain turn without calls failed.*no key/);
});
