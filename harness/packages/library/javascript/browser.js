// The rules as a library, in process, for browsers: the import waits until the module is compiled.
import { library, Rules } from "./library.js";

class AssertionError extends Error {
  name = "AssertionError";

  constructor({ message }) {
    super(message);
  }
}

const response = await fetch(new URL("./rules.wasm", import.meta.url));
if (!response.ok) throw new Error(`cannot load ${response.url}: status ${response.status}`);
const rules = new Rules(await WebAssembly.compile(await response.arrayBuffer()));

export const { check, repair, explain, session, assertHistory, historyOf, histories } = library(() => rules, AssertionError);
export { BrickbatError } from "./library.js";
