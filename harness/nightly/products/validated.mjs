// Repairs the sessions of the AI SDK in the corpus, and passes them to `validateUIMessages` and `convertToModelMessages` of
// each release.
//
//     node validated.mjs PROGRAM CORPUS MODULES…
//
// PROGRAM is `brickbat`, CORPUS a folder of UI messages, and each MODULES a folder of packages with one release of `ai`, such
// as `node_modules`, or a package itself.

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

// The number of releases that have to be there: 5, 6 and 7.
const RELEASES = 3;

const [program, corpus, ...folders] = process.argv.slice(2);
const load = async (folder) => {
  const root = [join(folder, "ai"), folder].map((path) => resolve(path)).find((path) => existsSync(join(path, "package.json")));
  const { version, main, module } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return { version, ai: await import(pathToFileURL(join(root, module ?? main))) };
};
const releases = new Map();
for (const folder of folders) {
  const release = await load(folder);
  releases.set(release.version, release.ai);
}
// Approvals came with version 6. Version 5 refuses parts that have them.
const isNewer = (version, file) => version.startsWith("5.") && file.startsWith("approval-");

const scratch = mkdtempSync(join(tmpdir(), "brickbat-validated-"));
const refused = [];
let count = 0;
for (const file of readdirSync(corpus).filter((name) => name.endsWith(".json"))) {
  const copy = join(scratch, file);
  execFileSync(program, ["repair", join(corpus, file), "--out", copy], { stdio: ["ignore", "ignore", "inherit"] });
  const healthy = !existsSync(copy);
  const messages = JSON.parse(readFileSync(healthy ? join(corpus, file) : copy, "utf8"));
  for (const [version, ai] of releases) {
    if (isNewer(version, file)) continue;
    count += 1;
    try {
      await ai.convertToModelMessages(await ai.validateUIMessages({ messages }));
    } catch (error) {
      refused.push(`${file}: ai ${version} throws ${error.name}`);
    }
  }
}
rmSync(scratch, { recursive: true });
console.log(`${count} validations by ai ${[...releases.keys()].join(", ")}, ${refused.length} refused`);
refused.forEach((words) => console.log(words));
process.exitCode = refused.length > 0 || count === 0 || releases.size < RELEASES ? 1 : 0;
