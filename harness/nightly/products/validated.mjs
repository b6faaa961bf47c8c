// Repairs the sessions of the AI SDK in the corpus and asks `validateUIMessages` of two releases whether it takes them.
//
//     node validated.mjs PROGRAM MODULES CORPUS
//
// PROGRAM is `brickbat`, MODULES the folder with the packages `ai-6` and `ai-7`, CORPUS a folder of UI messages.

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [program, modules, corpus] = process.argv.slice(2);
const load = async (name) => {
  const root = join(modules, "node_modules", name);
  const { version, main, module } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return { version, ai: await import(pathToFileURL(join(root, module ?? main))) };
};
const releases = [await load("ai-6"), await load("ai-7")];

const scratch = mkdtempSync(join(tmpdir(), "brickbat-validated-"));
const refused = [];
let count = 0;
for (const file of readdirSync(corpus).filter((name) => name.endsWith(".json"))) {
  const copy = join(scratch, file);
  execFileSync(program, ["repair", join(corpus, file), "--out", copy], { stdio: ["ignore", "ignore", "inherit"] });
  const healthy = !existsSync(copy);
  const messages = JSON.parse(readFileSync(healthy ? join(corpus, file) : copy, "utf8"));
  for (const { version, ai } of releases) {
    count += 1;
    try {
      await ai.validateUIMessages({ messages });
    } catch (error) {
      refused.push(`${file}: ai ${version} throws ${error.name}`);
    }
  }
}
rmSync(scratch, { recursive: true });
console.log(`${count} validations, ${refused.length} refused`);
refused.forEach((words) => console.log(words));
process.exitCode = refused.length > 0 || count === 0 ? 1 : 0;
