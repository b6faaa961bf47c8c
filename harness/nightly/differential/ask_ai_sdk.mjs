// Records the checks that the AI SDK makes itself before it sends a history.
//
// Usage: node ask_ai_sdk.mjs FOLDER HISTORIES VERDICTS, with a folder in which the package `ai` is installed
//
// Each line of HISTORIES is a request body of OpenAI Chat Completions, converted to the messages of the SDK. Each line of
// VERDICTS is null if the SDK passes them to its model, or else the class of its error.



import { createReadStream, createWriteStream } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const finishReason = { unified: "stop", raw: "stop" };
const model = {
  specificationVersion: "v3",
  provider: "none",
  modelId: "none",
  supportedUrls: {},
  doGenerate: async () => ({ content: [{ type: "text", text: "Done." }], finishReason, usage, warnings: [] }),
};

const parsed = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
};

function messageOf(message) {
  const { role, content, tool_calls: calls, tool_call_id: toolCallId } = message;
  if (role === "tool") {
    const output = { type: "text", value: typeof content === "string" ? content : "" };
    return { role, content: [{ type: "tool-result", toolCallId, toolName: "lookup", output }] };
  }
  if (role !== "assistant" || !calls?.length) return { role, content: content ?? "" };
  const text = typeof content === "string" && content ? [{ type: "text", text: content }] : [];
  const made = calls.map((call) => ({
    type: "tool-call",
    toolCallId: call.id,
    toolName: call.function?.name,
    input: parsed(call.function?.arguments),
  }));
  return { role, content: [...text, ...made] };
}

/** Returns a function that throws the error of the SDK in FOLDER for a history. */
export function checkOf(folder) {
  const { generateText } = createRequire(resolve(folder, "package.json"))("ai");
  return (body) =>
    generateText({ model, allowSystemInMessages: true, messages: body.messages.map(messageOf), maxRetries: 0 });
}

async function main(folder, histories, verdicts) {
  const check = checkOf(folder);
  const out = createWriteStream(verdicts);
  for await (const line of createInterface({ input: createReadStream(histories) })) {
    const verdict = await check(JSON.parse(line)).then(() => null, (error) => ({ kind: error.name }));
    out.write(`${JSON.stringify({ "ai-sdk": verdict })}\n`);
  }
  out.end();
}

if (resolve(process.argv[1]) === fileURLToPath(import.meta.url)) await main(...process.argv.slice(2));
