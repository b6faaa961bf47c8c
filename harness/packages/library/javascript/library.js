// The rules in a WebAssembly module, in process: the same on Node.js, Deno, Bun and in browsers.

// The largest history and the largest session that the module takes, in bytes.
const MAX_HISTORY = 8 * 1024 * 1024;
const MAX_SESSION = 64 * 1024 * 1024;

// The memory of an instance only grows. A larger one is replaced after the call.
const MAX_MEMORY = 128 * 1024 * 1024;

// The maximal depth of a history, and of the search for values that JSON does not have.
const MAX_DEPTH = 1000;

const TERMS = ["dialect", "host", "model", "profile"];

/** Brickbat itself failed. This is not a verdict on the agent. */
export class BrickbatError extends Error {
  name = "BrickbatError";
}

// The room for a question that an instance starts with, in bytes.
const ROOM = 64 * 1024;

/** An instance of the module, which is replaced if it stops. */
export class Rules {
  #module;
  #instance;
  #encoder = new TextEncoder();
  #decoder = new TextDecoder();

  constructor(module) {
    this.#module = module;
  }

  /** Asks a question about some bytes. */
  ask(question, bytes) {
    const head = this.#encoder.encode(JSON.stringify(question));
    const { error, ...told } = JSON.parse(this.#answer(head, bytes));
    if (error !== undefined) throw new TypeError(error);
    return told;
  }

  #answer(head, bytes) {
    this.#instance ??= { ...new WebAssembly.Instance(this.#module).exports, at: 0, room: 0 };
    const own = this.#instance;
    // It is set again if the call comes to its end. After a trap, the memory is in an unknown state.
    this.#instance = undefined;
    let text;
    try {
      const wanted = head.length + bytes.length;
      if (wanted > own.room) {
        own.room = Math.max(wanted, ROOM);
        own.at = own.take(own.room) >>> 0;
      }
      const room = new Uint8Array(own.memory.buffer, own.at, wanted);
      room.set(head);
      room.set(bytes, head.length);
      const found = BigInt.asUintN(64, own.answer(head.length, bytes.length));
      text = this.#decoder.decode(new Uint8Array(own.memory.buffer, Number(found >> 32n), Number(found & 0xffffffffn)));
    } catch (error) {
      const words = `the rules stopped at this input (${error.message}); please report it with the input`;
      throw new BrickbatError(words, { cause: error });
    }
    if (own.memory.buffer.byteLength <= MAX_MEMORY) this.#instance = own;
    return text;
  }
}

/** Makes the functions of the package. `rules` returns the instance, `AssertionError` is the error of `assertHistory`. */
export function library(rules, AssertionError) {
  const encoder = new TextEncoder();

  /** Returns a value as the bytes of JSON. A text or bytes are JSON already. */
  function json(value) {
    const bytes = typeof value === "string" ? utf8(value) : value instanceof Uint8Array ? value : encoded(value);
    if (bytes.length > MAX_HISTORY) {
      const size = `the history has ${bytes.length} bytes, and the library takes at most ${MAX_HISTORY}`;
      throw new RangeError(`${size}; \`brickbat check FILE\` judges larger ones`);
    }
    return bytes;
  }

  function utf8(text) {
    if (!text.isWellFormed?.() && /\p{Surrogate}/u.test(text)) {
      throw new TypeError("the text has half of a surrogate pair, which UTF-8 does not have; in JSON, write it as an escape");
    }
    return encoder.encode(text);
  }

  function encoded(value) {
    let text;
    try {
      text = JSON.stringify(value);
    } catch (error) {
      throw new TypeError(`the history is not JSON: ${error.message}`, { cause: error });
    }
    const odd = oddValue(value, 0);
    if (odd !== undefined) throw new TypeError(`the history is not JSON: ${odd}`);
    return encoder.encode(text);
  }

  function judged({ unjudged, ...told }) {
    if (unjudged === undefined) return told;
    throw new TypeError(["this history cannot be judged: " + unjudged.reason, ...unjudged.hints].join("\n  "));
  }

  function check(history, options) {
    const asked = { ask: "check", ...known("check", TERMS, options) };
    const told = judged(rules().ask(asked, json(history)));
    const { file, line, verdict, ...rest } = told.verdict;
    return { accepted: verdict === "accepted", ...rest, found: told.found, text: told.text };
  }

  function repair(history, options) {
    const asked = { ask: "repair", ...known("repair", [...TERMS, "truncate"], options) };
    const bytes = json(history);
    const { healthy, repaired, beyond } = judged(rules().ask(asked, bytes));
    if (healthy) return { outcome: "healthy" };
    if (beyond) return { outcome: "beyond", reason: beyond.reason, can_truncate: beyond.can_truncate };
    return { outcome: "repaired", body: JSON.parse(repaired.text), text: repaired.text, edits: repaired.edits };
  }

  function explain(text) {
    if (typeof text !== "string") throw new TypeError("expected the id of a rule, or the text of an error");
    const { pages } = rules().ask({ ask: "explain" }, encoder.encode(text));
    return pages.length > 0 ? pages.join("\n") : undefined;
  }

  function session(file, options) {
    const bytes = typeof file === "string" ? utf8(file) : file;
    if (!(bytes instanceof Uint8Array)) throw new TypeError("expected the text or the bytes of a session's file");
    if (bytes.length > MAX_SESSION) {
      throw new RangeError(`the session has more than ${MAX_SESSION} bytes; \`brickbat session FILE\` reads it`);
    }
    return rules().ask({ ask: "session", ...known("session", ["name", "model", "profile"], options) }, bytes);
  }

  function assertHistory(messages, options) {
    const verdict = check(messages, options);
    if (verdict.accepted) return;
    const message = `the provider would refuse this history\n${verdict.text.trimEnd()}`;
    throw new AssertionError({ message, stackStartFn: assertHistory });
  }

  function historyOf(bytes, dialect, options) {
    if (!(bytes instanceof Uint8Array)) throw new TypeError("expected bytes, from which a history is made");
    const asked = { ask: "history", dialect, ...known("historyOf", ["kind"], options) };
    const { body, list, ...rest } = rules().ask(asked, bytes);
    // A runner that prints a counterexample then prints each message once.
    return Object.defineProperty({ ...rest, messages: body[list] }, "body", { value: body });
  }

  function histories(fc, dialect, { maxBytes = 256, ...options } = {}) {
    historyOf(new Uint8Array(), dialect, options);
    return fc.uint8Array({ maxLength: maxBytes, size: "max" }).map((bytes) => historyOf(bytes, dialect, options));
  }

  return { check, repair, explain, session, assertHistory, historyOf, histories };
}

/** Returns the given options without undefined ones. An unknown name is an error, because it would select no rules. */
function known(what, names, options = {}) {
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new TypeError(`${what} has no option ${unknown}; it has ${names.join(", ")}`);
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/**
 * Returns what is wrong with a value that `JSON.stringify` writes as another one, if there is one. Properties that are undefined
 * are left out and dates are written as texts, as the clients of providers do.
 */
function oddValue(value, depth, path = "") {
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : `${path || "it"} is ${value}`;
    case "object":
      break;
    default:
      return `${path || "it"} is ${typeof value === "undefined" ? "undefined" : `a ${typeof value}`}`;
  }
  if (value === null) return undefined;
  if (depth > MAX_DEPTH) return `${path.slice(0, 40)}… is nested more than ${MAX_DEPTH} levels deep`;
  if (Array.isArray(value)) {
    for (let n = 0; n < value.length; n++) {
      const odd = oddValue(value[n], depth + 1, `${path}/${n}`);
      if (odd !== undefined) return odd;
    }
    return undefined;
  }
  if (typeof value.toJSON === "function") {
    const plain = value.toJSON();
    return plain === null && value instanceof Date ? `${path || "it"} is an invalid date` : oddValue(plain, depth + 1, path);
  }
  if (value instanceof Map || value instanceof Set || value instanceof Promise || ArrayBuffer.isView(value)) {
    return `${path || "it"} is a ${value.constructor.name}`;
  }
  for (const name in value) {
    const own = value[name];
    if (own === undefined || !Object.hasOwn(value, name)) continue;
    const odd = oddValue(own, depth + 1, `${path}/${name}`);
    if (odd !== undefined) return odd;
  }
  return undefined;
}
