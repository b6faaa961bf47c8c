// Asks the program of the page, and the command line, about every vector: verdicts, findings, places and mended bodies are the
// same. `node paste_vectors.mjs BRICKBAT PROGRAM.wasm FOLDER`; FOLDER/answers.json is for `paste.mjs`, which asks once more in a
// browser.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { load } from "../../web/page/wasi.mjs";

const [brickbat, program, folder] = process.argv.slice(2).map((path) => resolve(path));
const corpora = new URL("../../../corpora/histories/", import.meta.url).pathname;

/** Every vector as a body, and who judges it: the profile that it names, else the newest of its dialect. */
function vectors() {
  const all = [];
  for (const dialect of readdirSync(corpora).filter((name) => !name.includes("."))) {
    for (const file of readdirSync(join(corpora, dialect)).sort()) {
      for (const vector of JSON.parse(readFileSync(join(corpora, dialect, file), "utf8")).vectors) {
        const text = vector.body ?? JSON.stringify(vector.request);
        // What a provider remembers of earlier replies, a text does not show; and a list alone is judged as a list.
        const isKnown = vector.earlier === undefined && !text.trimStart().startsWith("[");
        all.push({ name: `${dialect}/${file} ${vector.name}`, text, profile: vector.profile ?? dialect, result: isKnown ? vector.result : null });
      }
    }
  }
  return all;
}

/** What the command line says of each body, and the copies that it mends. */
function commandLine(all) {
  const path = (n) => join(folder, `${n}.json`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  all.forEach((vector, n) => writeFileSync(path(n), vector.text));
  const said = [];
  for (const profile of new Set(all.map((vector) => vector.profile))) {
    const paths = all.flatMap((vector, n) => (vector.profile === profile ? [path(n)] : []));
    const run = (...more) => spawnSync(brickbat, ["check", "--profile", profile, ...more, ...paths], { encoding: "utf8", maxBuffer: 1 << 30 });
    const report = JSON.parse(run("--format", "json").stdout);
    for (const request of report.requests) said[Number(request.file.match(/(\d+)\.json$/)[1])] = request;
    run("--fix");
  }
  return said.map((request, n) => {
    const fixed = join(folder, `${n}.fixed.json`);
    return { request, mended: existsSync(fixed) ? readFileSync(fixed, "utf8") : null };
  });
}

const ask = await load(readFileSync(program));
const all = vectors();
const expected = commandLine(all);
assert.ok(all.length > 1000 && expected.length === all.length, `${all.length} vectors, ${expected.length} answers`);
const answers = [];
let n_mended = 0;
let n_refused = 0;
for (const [n, { name, text, profile, result }] of all.entries()) {
  const { request, mended } = expected[n];
  const answer = await ask({ ask: "check", text, profile });
  if (request.verdict === "unjudged") {
    assert.ok(answer.unjudged, `${name}: judged, and not by the command line`);
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
  assert.equal(repaired.mended?.text ?? null, mended, name);
  n_mended += mended !== null;
  answers.push({ text, profile, answer, repaired });
}
assert.ok(n_refused > 500 && n_mended > 200, `${n_refused} refused, ${n_mended} mended`);
writeFileSync(join(folder, "answers.json"), JSON.stringify(answers));

// A megabyte on one line, and the bytes of a hostile text.
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
console.log(`${all.length} vectors: ${n_refused} refused, ${n_mended} mended, as on the command line; ${large.length} bytes: ${times.join(", ")}`);
