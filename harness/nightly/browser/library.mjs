// Judges every vector with the package `brickbat-rules` in a headless Chromium: the verdicts must be those of the command line.
// `node library.mjs PACKAGE EXPECTED.json`, with `puppeteer-core` next to the working directory and the browser in $CHROMIUM.
// `../library/vectors.mjs` writes EXPECTED.json.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { extname, join } from "node:path";

const puppeteer = createRequire(`${process.cwd()}/`)("puppeteer-core");
const [root, expected] = process.argv.slice(2);
const { vectors } = JSON.parse(readFileSync(expected, "utf8"));
const TYPES = { ".js": "text/javascript", ".wasm": "application/wasm", ".html": "text/html" };
const files = new Map(["browser.js", "library.js", "rules.wasm"].map((name) => [`/${name}`, readFileSync(join(root, name))]));
files.set("/page.html", "<!doctype html><title>The rules</title>");

const asked = [];
const server = createServer(({ url }, response) => {
  asked.push(url);
  response.writeHead(files.has(url) ? 200 : 404, { "content-type": TYPES[extname(url)] ?? "text/plain" });
  response.end(files.get(url));
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
try {
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/page.html`);
  const told = await page.evaluate(async (vectors) => {
    const { check, repair } = await import("/browser.js");
    return vectors.map(({ text, profile }) => {
      try {
        const { accepted, findings } = check(text, { profile });
        return [accepted ? "accepted" : "refused", findings.map(({ rule, pointer }) => rule + pointer), repair(text, { profile }).text];
      } catch (error) {
        return ["unjudged", [], undefined, String(error)];
      }
    });
  }, vectors);
  for (const [n, { name, verdict, fixed }] of vectors.entries()) {
    const [word, places, repaired, error] = told[n];
    assert.equal(word, verdict.verdict, `${name}: ${error}`);
    assert.deepEqual(places, (verdict.findings ?? []).map(({ rule, pointer }) => rule + pointer), name);
    assert.equal(repaired ?? null, fixed, name);
  }
  const foreign = asked.filter((url) => !files.has(url) && url !== "/favicon.ico");
  assert.deepEqual(foreign, []);
  console.log(`${vectors.length} vectors in ${await browser.version()}: as on the command line`);
} finally {
  await browser.close();
  server.close();
}
