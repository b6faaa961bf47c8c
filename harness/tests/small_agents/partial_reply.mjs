// An agent that prints the reply while it arrives. It does not notice that a stream breaks off before its end.
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const url = `${process.env.OPENAI_BASE_URL}/chat/completions`;
const tools = [{ type: "function", function: { name: "look_up", parameters: { type: "object" } } }];
const messages = existsSync("thread.json") ? JSON.parse(readFileSync("thread.json", "utf8")) : [];
const store = () => writeFileSync("thread.json", JSON.stringify(messages));

async function reply() {
  const body = JSON.stringify({ model: "gpt-5", stream: true, tools, messages });
  const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  if (!answer.ok) throw new Error(await answer.text());
  let [text, isComplete] = ["", false];
  for (const line of (await answer.text()).split("\n").filter((line) => line.startsWith("data: {"))) {
    const choice = JSON.parse(line.slice("data: ".length)).choices[0];
    text += choice?.delta?.content ?? "";
    isComplete ||= choice?.finish_reason != null;
  }
  if (process.env.FIXED && !isComplete) throw new Error("the reply broke off");
  return text;
}

messages.push({ role: "user", content: process.argv[2] });
store();
const text = await reply();
console.log(text);
messages.push({ role: "assistant", content: text });
store();
