// Histories, streams and stored sessions with the reaction of the provider. See the README of the package.

import { readdirSync, readFileSync } from "node:fs";

export const DATA = new URL("data/", import.meta.url);

const read = (path) => JSON.parse(readFileSync(new URL(path, DATA), "utf8"));
const list = (path) => readdirSync(new URL(path, DATA)).sort();

/** Yields each request body. */
export function* histories() {
  for (const { group, rule, entry } of entries("histories")) {
    yield { group, rule, name: entry.name, result: entry.result, input: entry.body ?? padded(entry), entry };
  }
}

/** Yields each recorded reply. */
export function* streams() {
  for (const { group, rule, entry } of entries("streams")) {
    const text = (entry.lines ?? []).map((line) => `${line}\n`).join("");
    const input = "hex" in entry ? Buffer.from(entry.hex, "hex") : Buffer.from(text);
    yield { group, rule, name: entry.name, result: entry.result, input, entry };
  }
}

/** Yields each stored session. The store is the first file. */
export function* sessions() {
  for (const group of list("sessions")) {
    for (const [name, entry] of Object.entries(read(`sessions/${group}/entries.json`).sessions)) {
      const { layer, exit, rule = null } = entry.expect;
      const result = layer === "none" ? "valid" : exit ? "invalid" : "acceptable";
      const files = [entry.store, ...(entry.companions ?? [])];
      const input = Object.fromEntries(files.map((file) => [file, readFileSync(new URL(`sessions/${group}/${file}`, DATA))]));
      yield { group, rule, name, result, input, entry };
    }
  }
}

/** The JSON Schema of the files of `histories`, `streams` or `sessions`. */
export const schema = (kind) => read(`schemas/${kind}.schema.json`);

function* entries(kind) {
  for (const group of list(kind)) {
    for (const file of list(`${kind}/${group}`)) {
      const { rule = null, vectors } = read(`${kind}/${group}/${file}`);
      for (const entry of vectors) yield { group, rule, entry };
    }
  }
}

/** Lengthens the text that is shorter in the file than in the request. */
function padded({ request, padded }) {
  if (!padded) return request;
  const body = structuredClone(request);
  const way = padded.pointer.split("/").slice(1);
  const last = way.pop();
  const place = way.reduce((value, step) => value[step], body);
  place[last] += "A".repeat(padded.bytes - Buffer.byteLength(JSON.stringify(body)));
  return body;
}
