// Puts a given history into opencode's store with `opencode import`, in the format that `opencode export` writes.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const { folder, words, history } = JSON.parse(readFileSync(0, "utf8"));

// opencode's ids begin with the time, in 1/16 of a millisecond, and sort by it. These ids are an hour old.
const began = Date.now() - 3600_000;
let n = 0;
const id = (prefix) => {
  const time = (BigInt(began) * 0x1000n + BigInt(++n)) & 0xffffffffffffn;
  return `${prefix}_${time.toString(16).padStart(12, "0")}${String(n).padStart(14, "0")}`;
};
const sessionID = id("ses");
const model = { providerID: "brickbat", modelID: words.model };
const results = new Map(history.flatMap(({ results }) => results ?? []).map((result) => [result.id, result]));

/** The state of a call, which opencode stores in the call's part. A call without a result is stored as running. */
function state({ id, tool, args }) {
  const result = results.get(id);
  const time = { start: began + n, end: began + n };
  if (!result) return { status: "running", input: args, time: { start: time.start } };
  if (result.isError) return { status: "error", input: args, error: result.text, time };
  return { status: "completed", input: args, output: result.text, title: tool, metadata: {}, time };
}

let parentID;
const message = (info, parts) => {
  const messageID = id("msg");
  const time = { created: began + n, ...(info.role === "assistant" && { completed: began + n }) };
  const within = (part) => ({ id: id("prt"), sessionID, messageID, ...part });
  if (info.role === "user") parentID = messageID;
  return { info: { id: messageID, sessionID, time, agent: "build", ...info }, parts: parts.map(within) };
};
const messages = history.flatMap(({ user, assistant }) => {
  if (user !== undefined) return [message({ role: "user", model }, [{ type: "text", text: user }])];
  if (!assistant) return [];
  const parts = assistant.map(({ text, call }) =>
    text !== undefined ? { type: "text", text } : { type: "tool", callID: call.id, tool: call.tool, state: state(call) });
  const calls = assistant.some(({ call }) => call);
  const tokens = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } };
  const finish = calls ? "tool-calls" : "stop";
  const info = { role: "assistant", parentID, ...model, mode: "build", path: { cwd: folder, root: folder }, cost: 0, tokens, finish };
  return [message(info, [{ type: "step-start" }, ...parts, { type: "step-finish", reason: finish, cost: 0, tokens }])];
});

const info = {
  id: sessionID, slug: "given", projectID: "global", directory: folder, title: "Given", version: "0.0.0",
  time: { created: began, updated: began + n },
};
const file = join(folder, "given.json");
writeFileSync(file, JSON.stringify({ info, messages }));
const start = fileURLToPath(new URL("./start.mjs", import.meta.url));
const { status, stdout, stderr } = spawnSync(process.execPath, [start, "import", file], { cwd: folder, encoding: "utf8" });
if (status !== 0) {
  console.error(`opencode import ended with ${status}: ${stdout}${stderr}`);
  process.exit(1);
}
console.log(JSON.stringify({ sessionId: sessionID }));
