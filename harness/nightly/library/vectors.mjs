// Compares the package for JavaScript with the command line: the verdicts on every vector, the repaired bodies, and the reports on
// stored sessions must be the same. `node vectors.mjs BRICKBAT PACKAGE FOLDER` writes FOLDER/expected.json for `vectors.py`.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { commandLine, vectors } from "../vectors.mjs";

const [brickbat, root, folder] = process.argv.slice(2).map((path) => resolve(path));
const { check, repair, session, explain } = await import(pathToFileURL(join(root, "index.js")).href);
const corpora = new URL("../../../corpora/sessions/", import.meta.url).pathname;

// Their files are read by the same code as their databases, which the library does not have.
const NEED_DATABASES = ["goose", "langgraph-redis", "opencode"];

/** Sessions in one file, as the command line reads them. Ids are hashed with a salt of the first file. */
function sessions() {
  const files = readdirSync(corpora).flatMap((product) => {
    if (product.includes(".") || NEED_DATABASES.includes(product)) return [];
    const names = readdirSync(join(corpora, product)).filter((name) => /\.(json|jsonl)$/.test(name));
    // Files beside a session belong to it, and the library gets only one.
    const own = names.filter((name) => !existsSync(join(corpora, product, name.replace(/\.jsonl?$/, ""))));
    return own.map((name) => join(corpora, product, name));
  });
  const { stdout } = spawnSync(brickbat, ["session", "--format", "json", ...files], { encoding: "utf8", maxBuffer: 1 << 30 });
  const report = JSON.parse(stdout);
  const of = (list, path) => list.filter(({ file }) => file === path).map(({ file, id, ...rest }) => rest);
  return files.map((path) => ({ path, sessions: of(report.sessions, path), unread: of(report.unread, path) }));
}

/** The verdict on a vector; an error names the vector. */
function judged(name, text, profile) {
  try {
    return check(text, { profile });
  } catch (error) {
    throw new Error(`${name}: judged by the command line only`, { cause: error });
  }
}

const all = vectors();
const answers = commandLine(brickbat, folder, all);
assert.ok(all.length > 1200 && answers.length === all.length, `${all.length} vectors, ${answers.length} answers`);
const expected = { vectors: [], sessions: sessions() };
const counts = { refused: 0, repaired: 0, unjudged: 0 };
for (const [n, { name, text, profile }] of all.entries()) {
  const { request, fixed } = answers[n];
  const { file, line, ...verdict } = request;
  expected.vectors.push({ name, text, profile, verdict, fixed });
  if (verdict.verdict === "unjudged") {
    assert.throws(() => check(text, { profile }), { name: "TypeError", message: /cannot be judged/ }, name);
    counts.unjudged += 1;
    continue;
  }
  const { accepted, found, text: report, ...own } = judged(name, text, profile);
  const { verdict: word, ...rest } = verdict;
  assert.deepEqual(own, rest, name);
  assert.equal(accepted, word === "accepted", name);
  assert.equal(report === "", own.findings.length === 0, name);
  counts.refused += !accepted;
  const repaired = repair(text, { profile });
  assert.equal(repaired.text ?? null, fixed, name);
  counts.repaired += fixed !== null;
}
assert.ok(counts.refused > 500 && counts.repaired > 200, JSON.stringify(counts));
for (const { path, ...report } of expected.sessions) {
  const own = session(readFileSync(path), { name: basename(path) });
  const plain = (list) => list.map(({ file, id, ...rest }) => rest);
  // Where the file is named in the error, the command line has its folder.
  assert.deepEqual(plain(own.sessions), report.sessions, path);
  assert.equal(own.unread.length, report.unread.length, path);
}
assert.ok(expected.sessions.length > 100, `${expected.sessions.length} sessions`);
const rules = new Set(expected.vectors.flatMap(({ verdict }) => (verdict.findings ?? []).map((finding) => finding.rule)));
for (const rule of rules) assert.ok(explain(rule).startsWith(`${rule} (`), rule);
writeFileSync(join(folder, "expected.json"), JSON.stringify(expected));
console.log(
  `${all.length} vectors: ${counts.refused} refused, ${counts.repaired} repaired, ${counts.unjudged} not judged; ` +
    `${expected.sessions.length} sessions; ${rules.size} rules explained; as on the command line`,
);
