// The package `brickbat-rules` in Node.js, as it is installed. `dist/check` runs it without a network.
import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { assertHistory, BrickbatError, check, explain, histories, historyOf, repair, session } from "brickbat-rules";

const call = { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "look", input: {} }] };
const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "found" }] };
const ask = { role: "user", content: "Look." };

test("a history is judged, explained and repaired", () => {
  assert.equal(check([ask, call, result]).accepted, true);
  const verdict = check([ask, call, ask]);
  assert.equal(verdict.accepted, false);
  assert.equal(verdict.findings[0].rule, "anthropic-messages/tool-result-missing");
  assert.match(explain(verdict.findings[0].message), /tool-result-missing/);
  const repaired = repair([ask, call, ask]);
  assert.equal(check(repaired.body).accepted, true);
  assert.throws(() => assertHistory([ask, call, ask]), { name: "AssertionError", message: /would refuse this history/ });
});

test("a stored session is read", () => {
  const lines = [ask, call, ask].map((message) => JSON.stringify({ payload: message })).join("\n");
  const { sessions } = session(lines, { name: "log.jsonl" });
  assert.equal(sessions[0].verdict, "bricked");
});

test("a value that is not JSON is a clear error", () => {
  assert.throws(() => check([{ role: "user", content: "\ud800" }][0].content), { name: "TypeError", message: /half of a surrogate pair/ });
  assert.throws(() => check([{ role: "user", content: Number.NaN }]), { name: "TypeError", message: /is NaN/ });
  assert.throws(() => check([ask], { dialekt: "gemini" }), { name: "TypeError", message: /no option dialekt/ });
  assert.throws(() => check([{ role: "user", content: "x".repeat(9 << 20) }]), { name: "RangeError", message: /at most 8388608/ });
  assert.throws(() => check("[".repeat(100_000)), { name: "TypeError" });
  assert.equal(check([{ role: "user", content: "Hi", at: undefined }], { dialect: "anthropic-messages" }).accepted, true);
  assert.ok(BrickbatError.prototype instanceof Error);
});

test("an orphaned result of a trimmer is found and shrinks", () => {
  const property = fc.property(histories(fc, "openai-chat"), fc.integer({ min: 1, max: 6 }), ({ messages }, n) =>
    assertHistory(messages.slice(-n), { dialect: "openai-chat" }),
  );
  const { failed, counterexample } = fc.check(property, { seed: 1 });
  assert.ok(failed);
  const [{ messages }, n] = counterexample;
  assert.equal(messages.at(-n).role, "tool", JSON.stringify(messages));
  assert.equal(messages.flatMap((message) => message.tool_calls ?? []).length, 1, JSON.stringify(messages));
});

test("generated histories are what they say", () => {
  for (const dialect of ["anthropic-messages", "openai-chat", "openai-responses", "gemini", "bedrock-converse", "mistral"]) {
    const valid = fc.property(histories(fc, dialect), ({ body }) => check(body, { dialect }).accepted);
    fc.assert(valid, { numRuns: 50, seed: 1 });
    const broken = fc.property(histories(fc, dialect, { kind: "unrepairable" }), ({ body, fault }) => fault === null || !check(body, { dialect }).accepted);
    fc.assert(broken, { numRuns: 50, seed: 1 });
  }
  assert.deepEqual(historyOf(new Uint8Array(), "gemini"), historyOf(new Uint8Array(), "gemini"));
});
