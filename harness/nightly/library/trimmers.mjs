// Runs the property of the page about property tests on `trimMessages` of LangChain: `trimmers.mjs FOLDER`, where FOLDER has its
// packages, `brickbat-rules` and `fast-check`. The bodies that LangChain sends are judged.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const beside = createRequire(join(resolve(process.argv[2]), "index.js"));
const load = (name) => import(pathToFileURL(beside.resolve(name)).href);
const { ChatOpenAI } = await load("@langchain/openai");
const { coerceMessageLikeToMessage, trimMessages } = await load("@langchain/core/messages");
const { check, histories } = await load("brickbat-rules");
const { default: fc } = await load("fast-check");

let sent;
const fetch = async (_, { body }) => {
  sent = JSON.parse(body);
  return new Response('{"error":{"message":"only the body was wanted"}}', { status: 400 });
};
const model = new ChatOpenAI({ model: "gpt-5.2", apiKey: "none", maxRetries: 0, useResponsesApi: false, configuration: { fetch } });

const TRIMMERS = [
  // The default strategy, without the options of its guide.
  ["trimMessages", {}, "openai-chat/tool-message-orphan"],
  // From https://docs.langchain.com/oss/javascript/langchain/short-term-memory.
  ["trimMessages, as its guide has it", { startOn: "human", endOn: ["human", "tool"] }, undefined],
];

/** The body that is sent for a trimmed history, or nothing if no message is left. */
async function sentAfter(messages, options) {
  // LangChain's own messages have no content that is null.
  const given = messages.map(({ content, ...rest }) => coerceMessageLikeToMessage({ ...rest, content: content ?? "" }));
  const kept = await trimMessages(given, { strategy: "last", tokenCounter: (list) => list.length, ...options });
  if (kept.length === 0) return undefined;
  await model.invoke(kept).catch((error) => {
    // The answer to every request is an error.
    if (error.status !== 400) throw error;
  });
  return sent;
}

for (const [name, options, expected] of TRIMMERS) {
  let rule;
  const isAccepted = fc.asyncProperty(histories(fc, "openai-chat"), fc.integer({ min: 1, max: 6 }), async ({ messages }, maxTokens) => {
    const body = await sentAfter(messages, { maxTokens, ...options });
    const verdict = body && check(body, { dialect: "openai-chat" });
    if (verdict?.accepted !== false) return true;
    rule = verdict.findings[0].rule;
    return false;
  });
  const { failed, counterexample } = await fc.check(isAccepted, { numRuns: 300, seed: 1 });
  const messages = failed ? counterexample[0].messages : [];
  const calls = messages.flatMap((message) => message.tool_calls ?? []).length;
  console.log(`@langchain/core ${name}: ${failed ? `${rule}, in a conversation of ${messages.length} messages with ${calls} call(s)` : "passes"}`);
  assert.equal(rule, expected, name);
  assert.ok(calls <= 2, JSON.stringify(messages));
}
