#!/usr/bin/env node
// Scores a validator: npx brickbat-vectors ./module.js [histories|streams|sessions]
//
// The default export gets the input, the group and the complete entry of a vector. To refuse the input, it returns false or
// throws. It throws `Skip` for a vector that it does not judge. Any other returned value accepts the input.
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as vectors from "./index.js";

export class Skip extends Error {}
/** Returns the kind of error without its values, or null if the validator accepts. */
async function reason(validate, { input, group, entry }) {
  try {
    return (await validate(input, group, entry)) === false ? "returned false" : null;
  } catch (error) {
    if (error instanceof Skip) throw error;
    return `${error?.name}: ${error?.message}`.slice(0, 200).replace(/'[^']*'|"[^"]*"|`[^`]*`|\d+/g, "…").split("\n")[0];
  }
}

/** Counts by group and rule. A refusal counts only if no valid vector of the rule is refused for the same reason. */
export async function score(validate, all) {
  const rules = new Map();
  for (const vector of all) {
    const { group, rule, result } = vector, key = `${group} ${rule ?? "accepted-shapes"}`;
    if (!rules.has(key)) rules.set(key, { group, rule, valid: [], acceptable: [], invalid: [], skipped: 0 });
    await reason(validate, vector).then((why) => rules.get(key)[result].push(why), () => rules.get(key).skipped++);
  }
  return [...rules.values()].map((rule) => ({ ...rule, caught: rule.invalid.filter((why) => why && !rule.valid.includes(why)) }));
}
// Not awaited at the top level, because the module imports this one.
async function main([path, kind = "histories"]) {
  const { default: validate } = await import(pathToFileURL(resolve(path)));
  for (const { group, rule, valid, invalid, caught, skipped } of await score(validate, vectors[kind]()))
    if (valid.length + invalid.length) console.log(`${group.padEnd(20)} ${of(valid.filter((why) => !why), valid)} valid accepted, ${of(caught, invalid)} invalid refused, ${String(skipped).padStart(3)} skipped  ${rule ?? "accepted-shapes"}`);
}

const of = (some, all) => `${String(some.length).padStart(3)} of ${String(all.length).padStart(3)}`;
if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
