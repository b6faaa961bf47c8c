// An agent that looks things up. It stores its thread when the turn is over, so a turn that is stopped leaves nothing.
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const url = `${process.env.OPENAI_BASE_URL}/chat/completions`;
const tools = [{ type: "function", function: { name: "look_up", parameters: { type: "object" } } }];
const thread = existsSync("thread.json") ? JSON.parse(readFileSync("thread.json", "utf8")) : [];
const store = () => writeFileSync("thread.json", JSON.stringify(thread));

function add(...messages) {
  thread.push(...messages);
  if (process.env.FIXED) store();
}

async function ask() {
  const body = JSON.stringify({ model: "gpt-5", tools, messages: thread });
  const headers = { "content-type": "application/json", authorization: "Bearer k" };
  const answer = await fetch(url, { method: "POST", headers, body });
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()).choices[0].message;
}

add({ role: "user", content: process.argv[2] });
for (;;) {
  const reply = await ask();
  const calls = reply.tool_calls ?? [];
  const results = calls.map((call) => ({ role: "tool", tool_call_id: call.id, content: "It is 21 degrees." }));
  // A reply is stored with the results of its calls: there is no thread with one and without the other.
  add(reply, ...results);
  if (calls.length === 0) break;
}
store();
console.log(thread.at(-1).content);
