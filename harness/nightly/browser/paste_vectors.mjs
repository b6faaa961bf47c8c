// Compares the program of the page with the command line for every vector: verdicts, findings, places and repaired bodies must
// be the same. `node paste_vectors.mjs BRICKBAT PROGRAM.wasm FOLDER` writes FOLDER/answers.json for `paste.mjs`, which repeats
// the comparison in a browser.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { commandLine, vectors } from "../vectors.mjs";
import { load } from "../../web/page/wasi.mjs";

const [brickbat, program, folder] = process.argv.slice(2).map((path) => resolve(path));

const ask = await load(readFileSync(program));
const all = vectors();
const expected = commandLine(brickbat, folder, all);
assert.ok(all.length > 1000 && expected.length === all.length, `${all.length} vectors, ${expected.length} answers`);
const answers = [];
let n_repaired = 0;
let n_refused = 0;
for (const [n, { name, text, profile, result }] of all.entries()) {
  const { request, fixed } = expected[n];
  const answer = await ask({ ask: "check", text, profile });
  if (request.verdict === "unjudged") {
    assert.ok(answer.unjudged, `${name}: judged here, but not by the command line`);
  } else {
    const own = answer.report.requests[0];
    assert.deepEqual({ ...own, file: request.file }, request, name);
    if (result) assert.equal(own.verdict === "refused", result === "invalid", name);
    n_refused += own.verdict === "refused";
    for (const [i, finding] of own.findings.entries()) {
      const place = answer.places[i];
      const bytes = Buffer.from(text).subarray(finding.place.offset, finding.place.offset + finding.place.length);
      assert.equal(text.slice(place.start, place.end), bytes.toString(), name);
    }
  }
  const repaired = await ask({ ask: "repair", text, profile });
  assert.equal(repaired.mended?.text ?? null, fixed, name);
  n_repaired += fixed !== null;
  answers.push({ text, profile, answer, repaired });
}
assert.ok(n_refused > 500 && n_repaired > 200, `${n_refused} refused, ${n_repaired} repaired`);
writeFileSync(join(folder, "answers.json"), JSON.stringify(answers));

// A megabyte on one line, and hostile texts.
const turn = { role: "user", content: "x".repeat(900) };
const messages = Array.from({ length: 1150 }, (_, i) => (i % 2 ? { role: "assistant", content: "y" } : turn)).concat(turn);
messages.splice(600, 0, { role: "user", content: "z".repeat(500_000) }, { role: "assistant", content: [{ type: "tool_use", id: "a", name: "t", input: {} }] });
const large = JSON.stringify({ model: "claude-sonnet-5", max_tokens: 9, messages });
const times = [];
for (const kind of ["check", "check", "check", "repair"]) {
  const before = performance.now();
  const answer = await ask({ ask: kind, text: large });
  times.push(`${kind} ${Math.round(performance.now() - before)} ms`);
  assert.ok(answer.mended || answer.report.requests[0].verdict === "refused", kind);
}
for (const text of ["", "\u0000", "[".repeat(200_000), `{"messages":[${'{"role":"user"},'.repeat(20_000)}`, "\ud800", '"'.repeat(9)]) {
  assert.ok((await ask({ ask: "check", text })).unjudged, text.slice(0, 20));
}
console.log(`${all.length} vectors: ${n_refused} refused, ${n_repaired} repaired, as on the command line; ${large.length} bytes: ${times.join(", ")}`);
