// Has a JavaScript library read a session that it wrote, and prints what it has read.
//
//     node readers.mjs PRODUCT MODULES FILE
//
// MODULES is a folder of packages with the library. The program `readers.py` runs this for each product of the table.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [product, modules, path] = process.argv.slice(2);
const load = () => JSON.parse(readFileSync(path, "utf8"));
// A module by its path in the folder of packages.
const at = (name) => import(pathToFileURL(resolve(modules, name)));
// A package by the module that its manifest names.
const library = async (name) => {
  const { main, module } = JSON.parse(readFileSync(resolve(modules, name, "package.json"), "utf8"));
  return at(`${name}/${module ?? main}`);
};
// A package as another one requires it.
const beside = (owner, name) => createRequire(resolve(modules, owner, "package.json"))(name);

/** Has the AI SDK send these messages to a model that only takes them. Throws what the SDK throws before. */
async function sent(ai, messages) {
  let prompt;
  const model = {
    specificationVersion: "v2", provider: "brickbat", modelId: "brickbat", supportedUrls: {},
    doGenerate: async (options) => {
      prompt = options.prompt;
      throw new Error("the model has what it was asked");
    },
  };
  const ended = await ai.generateText({ model, messages, maxRetries: 0 }).catch((error) => error);
  if (!prompt) throw ended;
  return prompt;
}

/** The messages that a client of AG-UI makes from events, once they are in an order that it accepts. */
async function folded(events) {
  const client = "@ag-ui/client";
  const { verifyEvents, defaultApplyEvents, AbstractAgent } = await at(`${client}/dist/index.mjs`);
  const { from, lastValueFrom } = beside(client, "rxjs");
  const agent = new (class extends AbstractAgent {})({ threadId: "t" });
  const input = { threadId: "t", runId: "r", messages: [], state: {}, tools: [], context: [], forwardedProps: {} };
  const made = defaultApplyEvents(input, from(events).pipe(verifyEvents(false)), agent, []);
  return (await lastValueFrom(made)).messages;
}

const READERS = {
  "ag-ui-events": async () => {
    const { EventSchemas } = beside("@ag-ui/client", "@ag-ui/core/schemas");
    return folded(load().map((event) => EventSchemas.parse(event)));
  },
  "ag-ui-messages": async () => {
    const { MessageSchema } = beside("@ag-ui/client", "@ag-ui/core/schemas");
    return load().map((message) => MessageSchema.parse(message));
  },
  "ai-sdk-model-messages": async () => sent(await library("ai"), load()),
  genkit: async () => {
    const { Session, SessionStateSchema } = await at("@genkit-ai/ai/lib/session.mjs");
    return new Session(SessionStateSchema.parse(load())).getMessages();
  },
  pi: async () => {
    const core = "@earendil-works/pi-coding-agent/dist/core";
    const [{ SessionManager }, { convertToLlm }] = [await at(`${core}/session-manager.js`), await at(`${core}/messages.js`)];
    return convertToLlm(SessionManager.open(resolve(path)).buildSessionContext().messages);
  },
  tanstack: async () => {
    const { convertMessagesToModelMessages } = await at("@tanstack/ai/dist/esm/index.js");
    return convertMessagesToModelMessages(load());
  },
  // Its server is not a package: our own code reads the rows, and the AI SDK the messages.
  twenty: async () => {
    const { messageOf } = await import("../../systems/twenty/rows.mjs");
    const ai = await library("ai");
    const { agentMessage, agentMessagePart } = load();
    const messages = agentMessage.map(({ id, role }) => {
      const parts = agentMessagePart.filter(({ messageId }) => messageId === id).sort((a, b) => a.orderIndex - b.orderIndex);
      return messageOf({ id, role, parts });
    });
    return sent(ai, await ai.convertToModelMessages(await ai.validateUIMessages({ messages })));
  },
};

console.log(JSON.stringify(await READERS[product]()));
