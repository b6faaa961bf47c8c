// Searches a built book as its own search field does: `node search.mjs BOOK`. Each error of a user leads to the right page, which
// is among the first three results; and so does the title of every page about an error.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import vm from "node:vm";

// The errors as users meet them, with ids and numbers.
const ERRORS = [
  ["No tool output found for function call call_Zk3vQ81.", "openai-responses/tool-output-missing"],
  [
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01A09q90qw90lq917835lq9.",
    "anthropic-messages/tool-result-missing",
  ],
  [
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    "openai-chat/tool-message-orphan",
  ],
  [
    "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
    "gemini/response-count",
  ],
  ["AI_MissingToolResultsError: Tool result is missing for tool call call_1.", "clients/ai-missingtoolresultserror"],
  ["Expected toolResult blocks at messages.2.content for the following Ids: tooluse_kZJMlvQmRJ6eAyJE5GIl7Q", "bedrock-converse/tool-result-missing"],
  ["Not the same number of function calls and responses", "mistral/call-and-result-counts"],
];
const MAX_PLACE = 3;

const book = process.argv[2];
const text = (name) => readFileSync(join(book, readdirSync(book).find((file) => name.test(file))), "utf8");
const context = vm.createContext({ search: {} });
context.window = context;
for (const name of [/^elasticlunr.*\.js$/, /^searchindex.*\.js$/]) vm.runInContext(text(name), context);
const { index, doc_urls, search_options } = context.search;
const searched = context.elasticlunr.Index.load(index);

// The pages that the search finds, the best first. mdBook lists parts of pages.
function found(words) {
  const started = performance.now();
  const results = searched.search(words, search_options).map(({ ref }) => doc_urls[ref].split("#")[0]);
  return { pages: [...new Set(results)], ms: performance.now() - started };
}

const isAmongFirst = (at) => at > 0 && at <= MAX_PLACE;
const place = (words, page) => found(words).pages.findIndex((path) => path.startsWith(page)) + 1;
assert.equal(place("No tool output found", "errors/no-such-page"), 0);
assert.deepEqual(found("xyzzyplugh").pages, []);

let wrong = 0;
for (const [error, page] of ERRORS) {
  const { pages, ms } = found(error);
  const at = place(error, `errors/${page}`);
  const isRight = isAmongFirst(at);
  wrong += !isRight;
  console.log(`${isRight ? "ok" : "WRONG"}: place ${at} of ${pages.length}, ${ms.toFixed(0)} ms: ${error}`);
  for (const path of pages.slice(0, MAX_PLACE)) console.log(`  ${path}`);
}

// mdBook indexes only words in Latin letters, and several pages may have one title.
const docs = Object.entries(searched.documentStore.docs).map(([ref, { title }]) => [title, doc_urls[ref].split("#")[0]]);
const titles = docs.filter(([, page]) => /^errors\/[\w-]+\/(?!index)/.test(page));
const isOne = (title) => titles.filter(([other]) => other === title).length === 1;
const own = titles.filter(([title]) => isOne(title) && /[a-z]{3}/i.test(title));
const lost = own.filter(([title, page]) => !isAmongFirst(place(title, page)));
for (const [title, page] of lost) console.log(`WRONG: not among the first: ${page}: ${title}`);
console.log(`${ERRORS.length - wrong} of ${ERRORS.length} errors; ${own.length - lost.length} of ${own.length} titles; ${titles.length} pages`);
process.exit(wrong + lost.length > 0 ? 1 : 0);
