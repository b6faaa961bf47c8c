// Scores validators of npm on the test vectors. Usage: node validators.mjs FOLDER PLACES OUT
//
// FOLDER has the packages of `package.json` and `brickbat-vectors` installed. OUT gets the same rows as from `validators.py`.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { checkOf } from "../differential/ask_ai_sdk.mjs";

const [folder, places, out] = process.argv.slice(2);
const installed = createRequire(resolve(folder, "package.json"));
const load = (name) => import(pathToFileURL(installed.resolve(name)));
const { histories } = await load("brickbat-vectors");
const { score, Skip } = await load("brickbat-vectors/score");
const { ChatCompletionRequestMessage$outboundSchema: mistral } = await load("@mistralai/mistralai/models/components");
const checkAi = checkOf(folder);
const { validators: claims, in_doubt: doubted } = JSON.parse(readFileSync(new URL("validators.json", import.meta.url), "utf8"));
const known = JSON.parse(readFileSync(places, "utf8"));

// An error of these classes is one of the validator itself, not its judgement.
const CRASHES = ["TypeError", "ReferenceError", "RangeError"];

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

function isAsked({ input, entry, rule, name }) {
  // A file without a rule has undocumented forms that providers accept, and no SDK has to know them.
  if (rule === null || doubted.includes(`${rule} ${name}`)) return false;
  const isPlain = isObject(input) && !("profile" in entry) && !("earlier" in entry) && !("padded" in entry);
  return isPlain && !entry.flags?.includes("unheard-of");
}

/** True for messages that the conversion to those of the AI SDK carries over completely. */
function isConvertible(message) {
  if (!isObject(message) || !["system", "user", "assistant", "tool"].includes(message.role)) return false;
  const { role, content, tool_calls: calls, tool_call_id: id, ...others } = message;
  if (Object.keys(others).length > 0) return false;
  if (role === "tool") return typeof content === "string" && typeof id === "string";
  const isText = typeof content === "string" && content !== "";
  if (role !== "assistant" || calls === undefined) return isText;
  return (content === null || content === undefined || isText) && Array.isArray(calls) && calls.length > 0 && calls.every(isCall);
}

function isCall(call) {
  try {
    const { name, arguments: text } = call.function;
    return typeof call.id === "string" && typeof name === "string" && isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

async function ai(body, dialect) {
  if (dialect !== "openai-chat" || !Array.isArray(body.messages) || !body.messages.every(isConvertible)) throw new Skip();
  try {
    await checkAi(structuredClone(body));
  } catch (error) {
    throw Object.assign(new Error(), { name: error.name });
  }
}

// The SDK takes these fields in camel case.
const CAMEL = { tool_calls: "toolCalls", tool_call_id: "toolCallId", image_url: "imageUrl", input_audio: "inputAudio" };
const camel = (value) => {
  if (Array.isArray(value)) return value.map(camel);
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [CAMEL[key] ?? key, camel(inner)])) : value;
};

function withMistral({ messages }, dialect) {
  if (dialect !== "mistral" || !Array.isArray(messages)) throw new Skip();
  for (const message of messages) {
    const { success, error } = mistral.safeParse(camel(message));
    if (success) continue;
    const { path, code } = firstOf(error.issues);
    throw Object.assign(new Error(`${path.filter((step) => typeof step === "string").join("/")}: ${code}`), { name: "ZodError" });
  }
}

/** The first issue of the alternative with the right role, because the issue of a union does not tell much. */
function firstOf([issue]) {
  const alternatives = (issue.errors ?? []).filter((issues) => !issues.some(({ path }) => path[0] === "role" || path[0] === "type"));
  if (issue.code !== "invalid_union" || alternatives.length !== 1) return issue;
  const inner = firstOf(alternatives[0]);
  return { ...inner, path: [...issue.path, ...inner.path] };
}

/** Does not ask a validator of messages about a fault outside them. */
const onMessages = (check) => (body, dialect, entry) => {
  const place = entry.place ?? "";
  if (entry.result === "invalid" && place !== "/messages" && !place.startsWith("/messages/")) throw new Skip();
  return check(body, dialect);
};

const counted = (list) => list.reduce((counts, why) => ({ ...counts, [why]: (counts[why] ?? 0) + 1 }), {});

function row({ group, rule, valid, invalid, caught }) {
  const isCrash = (why) => CRASHES.some((name) => why?.startsWith(name));
  return {
    dialect: group,
    rule,
    valid: valid.length,
    accepted: valid.filter((why) => !why).length,
    refusals: counted(valid.filter((why) => why)),
    invalid: invalid.length,
    missed: invalid.filter((why) => !why).length,
    crashed: invalid.filter(isCrash).length,
    caught: counted(caught.filter((why) => !isCrash(why))),
  };
}

const placed = (vector) => ({ ...vector, entry: { ...vector.entry, place: known[`${vector.rule} ${vector.name}`] } });
const vectors = [...histories()].filter(isAsked).map(placed);
const parts = [];
for (const [name, check] of Object.entries({ ai, "@mistralai/mistralai": withMistral })) {
  const { not_claimed: others } = claims.find((claim) => claim.name === name);
  const asked = vectors.filter(({ rule, name, result }) => result !== "invalid" || !others.includes(`${rule} ${name}`));
  const rows = (await score(onMessages(check), asked)).map(row).filter(({ valid, invalid }) => valid + invalid > 0);
  const { version } = JSON.parse(readFileSync(resolve(folder, "node_modules", name, "package.json"), "utf8"));
  parts.push({ name, version, rows });
}
writeFileSync(out, `${JSON.stringify(parts, null, 1)}\n`);
