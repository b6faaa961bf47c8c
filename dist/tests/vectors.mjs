// Prints one line for each vector that the installed package `brickbat-vectors` loads, for comparison with Python.
import { createHash } from "node:crypto";
import * as vectors from "brickbat-vectors";

const sorted = (value) =>
  value && typeof value === "object" && !Array.isArray(value)
    ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]))
    : Array.isArray(value) ? value.map(sorted) : value;
const bytes = (kind, input) => {
  if (kind === "streams") return input;
  if (kind === "sessions") return Buffer.concat(Object.values(input));
  return JSON.stringify(sorted(input));
};

for (const kind of ["histories", "streams", "sessions"]) {
  for (const { group, rule, name, result, input } of vectors[kind]()) {
    const hash = createHash("sha256").update(bytes(kind, input)).digest("hex");
    console.log(JSON.stringify([kind, group, rule, name, result, hash]));
  }
}
