// The rules as a library, in process, for Node.js, Deno and Bun.
import { AssertionError } from "node:assert";
import { readFileSync } from "node:fs";
import { library, Rules } from "./library.js";

let rules;

/** Compiles the module at the first call. */
function started() {
  return (rules ??= new Rules(new WebAssembly.Module(readFileSync(new URL("./rules.wasm", import.meta.url)))));
}

export const { check, repair, explain, session, assertHistory, historyOf, histories } = library(started, AssertionError);
export { BrickbatError } from "./library.js";
