// The vectors of the rules, and the answers of the command line to them, for programs that compare them with other answers.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const corpora = new URL("../../corpora/histories/", import.meta.url).pathname;

/** Every vector as a body with its profile: the one that it names, or the newest of its dialect. */
export function vectors() {
  const all = [];
  for (const dialect of readdirSync(corpora).filter((name) => !name.includes("."))) {
    for (const file of readdirSync(join(corpora, dialect)).sort()) {
      for (const vector of JSON.parse(readFileSync(join(corpora, dialect, file), "utf8")).vectors) {
        const text = vector.body ?? JSON.stringify(vector.request);
        // A text does not contain the provider's earlier replies, a padded one is too long to paste, and a list of messages is judged as a list.
        const isKnown = vector.earlier === undefined && vector.padded === undefined && !text.trimStart().startsWith("[");
        all.push({ name: `${dialect}/${file} ${vector.name}`, text, profile: vector.profile ?? dialect, result: isKnown ? vector.result : null });
      }
    }
  }
  return all;
}

/** The command line's report about each body, and its repaired copies. It empties the folder. */
export function commandLine(brickbat, folder, all) {
  const path = (n) => join(folder, `${n}.json`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  all.forEach((vector, n) => writeFileSync(path(n), vector.text));
  const requests = [];
  for (const profile of new Set(all.map((vector) => vector.profile))) {
    const paths = all.flatMap((vector, n) => (vector.profile === profile ? [path(n)] : []));
    const run = (...more) => spawnSync(brickbat, ["check", "--profile", profile, ...more, ...paths], { encoding: "utf8", maxBuffer: 1 << 30 });
    const report = JSON.parse(run("--format", "json").stdout);
    for (const request of report.requests) requests[Number(request.file.match(/(\d+)\.json$/)[1])] = request;
    run("--fix");
  }
  return requests.map((request, n) => {
    const fixed = join(folder, `${n}.fixed.json`);
    return { request, fixed: existsSync(fixed) ? readFileSync(fixed, "utf8") : null };
  });
}
