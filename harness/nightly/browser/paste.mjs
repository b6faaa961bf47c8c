// Tests the page for pasted requests in a headless Chromium: with the keyboard, in two widths and two color schemes.
// `node paste.mjs PAGE.html ANSWERS.json PICTURES`, with `puppeteer-core` next to the working directory and the browser in
// $CHROMIUM. `paste_vectors.mjs` writes ANSWERS.json.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const puppeteer = createRequire(`${process.cwd()}/`)("puppeteer-core");
const [file, answers, pictures] = process.argv.slice(2);
const html = readFileSync(file, "utf8");

const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
// Record all requests, to detect any request of the page.
const asked = [];
const server = createServer((request, response) => {
  asked.push(request.url);
  response.writeHead(200, { "content-type": "text/html; charset=utf-8", "access-control-allow-origin": "*" });
  response.end(request.url === "/paste.html" ? html : "");
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const address = `http://127.0.0.1:${server.address().port}`;

const verdict = (page) => page.$eval("#verdict", (verdict) => verdict.textContent);
const settled = (page, kind) => page.waitForSelector(`#verdict.${kind}`);
const wide = { width: 1100, height: 900 };
const narrow = { width: 390, height: 844 };

async function opened(address, viewport, tone) {
  const page = await browser.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  await page.setViewport(viewport);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: tone }]);
  await page.goto(address);
  await page.waitForFunction(() => document.querySelector("#version").textContent !== "");
  return { page, wrong };
}

try {
  // Sizes and color schemes, from a server and from a file.
  for (const [name, viewport, tone, from] of [
    ["wide-light", wide, "light", `${address}/paste.html`],
    ["wide-dark", wide, "dark", pathToFileURL(file).href],
    ["narrow-light", narrow, "light", pathToFileURL(file).href],
    ["narrow-dark", narrow, "dark", `${address}/paste.html`],
  ]) {
    const { page, wrong } = await opened(from, viewport, tone);
    await page.click("#example");
    await settled(page, "refused");
    await page.waitForSelector("#copy");
    assert.match(await verdict(page), /^Refused with status 400 by anthropic-messages@/);
    assert.equal(await page.$eval("#findings article h2 code", (code) => code.textContent), "anthropic-messages/tool-result-missing");
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= viewport.width, `${name}: ${width} pixels wide`);
    // The call is marked in the text and in the excerpt.
    assert.match(await page.$eval("#marks mark", (mark) => mark.textContent), /toolu_2/);
    assert.match(await page.$eval(".excerpt mark", (mark) => mark.textContent), /toolu_2/);
    // The copy under the box has the same layout as the box. Otherwise the mark would be at the wrong place.
    const [box, under] = await page.evaluate(() => ["text", "marks"].map((id) => {
      const { clientWidth, scrollHeight } = document.getElementById(id);
      return [clientWidth, scrollHeight];
    }));
    assert.equal(box[0], under[0], name);
    assert.ok(Math.abs(box[1] - under[1]) < 30, `${name}: ${box} ${under}`);
    assert.match(await page.$eval("#edit ins", (ins) => ins.textContent), /No result of this call was recorded/);
    const ink = (selector, property) => page.$eval(selector, (one, property) => getComputedStyle(one)[property], property);
    assert.equal(await ink("body", "backgroundColor"), tone === "dark" ? "rgb(20, 23, 28)" : "rgb(255, 255, 255)");
    if (pictures) await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
    assert.deepEqual(wrong, []);
    await page.close();
  }

  // Type, check and repair a text and replace it, using only the keyboard.
  const { page, wrong } = await opened(`${address}/paste.html`, wide, "light");
  await page.focus("#text");
  await page.keyboard.type('{"model":"gpt-5","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"t","arguments":"{}"}}]},{"role":"user","content":"b"}]}');
  await page.keyboard.down("Control");
  await page.keyboard.press("Enter");
  await page.keyboard.up("Control");
  await settled(page, "refused");
  assert.match(await verdict(page), /by openai-chat@/);
  assert.equal(await page.evaluate(() => document.activeElement.id), "verdict");
  const copyButton = await page.waitForSelector("#copy");
  await browser.defaultBrowserContext().overridePermissions(address, ["clipboard-read", "clipboard-sanitized-write"]);
  await copyButton.focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("#repair [role=status]").textContent === "Copied.");
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(JSON.parse(copied).messages[2].role, "tool");
  // The second next button replaces the text with the copied one.
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await settled(page, "accepted");
  assert.equal(await page.$eval("#text", (text) => text.value), copied);
  // A host selects its rules, and a profile overrides the host.
  await page.type("#host", "api.deepseek.com");
  await page.keyboard.press("Tab");
  await page.waitForFunction(() => document.querySelector("#verdict").textContent.includes("deepseek@"));
  await page.select("#profile", "openai-chat@2026-09");
  await page.waitForFunction(() => document.querySelector("#verdict").textContent.includes("openai-chat@2026-09"));
  assert.ok(await page.$eval("#host", (host) => host.disabled));
  await page.select("#profile", "");
  // The button of a finding scrolls to its place and selects it.
  await page.click("#example");
  await settled(page, "refused");
  await page.click("#findings article button");
  const selected = () => page.$eval("#text", (text) => text.value.slice(text.selectionStart, text.selectionEnd));
  assert.match(await selected(), /^\{[^]*toolu_2/);
  // HTML in a request is displayed as text.
  const script = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
  await page.$eval("#text", (text, script) => {
    text.value = JSON.stringify({ model: "claude-x", messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: script }] }] });
    text.dispatchEvent(new Event("input"));
  }, script);
  await page.waitForFunction(() => document.querySelector("#findings").textContent.includes("onerror"));
  assert.equal(await page.$$eval("#findings img, #findings script", (found) => found.length), 0);
  assert.equal(await page.title(), "Paste a refused request – Brickbat");
  // The dark and the light theme.
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.click("#theme");
  assert.notEqual(await ground(), light);
  assert.deepEqual(wrong, []);

  // The page has sent no request, and a script in it cannot send one.
  const before = asked.length;
  const left = await page.evaluate(async (address) => {
    const gone = [];
    const tries = {
      fetch: () => fetch(`${address}/fetch`, { mode: "no-cors" }).then(() => true, () => false),
      beacon: () => { try { navigator.sendBeacon(`${address}/beacon`, "a"); } catch {} return false; },
      image: () => new Promise((done) => Object.assign(new Image(), { onload: () => done(true), onerror: () => done(false), src: `${address}/image` })),
      socket: () => new Promise((done) => { const socket = new WebSocket(address.replace("http", "ws")); socket.onopen = () => done(true); socket.onerror = () => done(false); }),
      worker: () => { try { new Worker(`${address}/worker`); } catch {} return false; },
      script: () => new Promise((done) => document.head.append(Object.assign(document.createElement("script"), { onload: () => done(true), onerror: () => done(false), src: `${address}/script` }))),
    };
    for (const [name, attempt] of Object.entries(tries)) if (await attempt()) gone.push(name);
    return gone;
  }, address);
  assert.deepEqual(left, []);
  assert.deepEqual(asked.slice(before).filter((url) => url !== "/favicon.ico"), []);
  assert.deepEqual([...new Set(asked)].filter((url) => url !== "/favicon.ico"), ["/paste.html"]);

  // In this browser, the program of the page gives the same answers as in Node.js and on the command line.
  const plain = await browser.newPage();
  await plain.goto("about:blank");
  const shim = readFileSync(new URL("../../web/page/wasi.mjs", import.meta.url), "utf8").replaceAll(/^export /gm, "");
  await plain.addScriptTag({ content: `${shim}\nwindow.load = load;` });
  const program = html.match(/id="program">([^<]*)</)[1];
  const expected = JSON.parse(readFileSync(answers, "utf8"));
  await plain.evaluate(async (program) => {
    const packed = Uint8Array.from(atob(program), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    window.ask = await window.load(await new Response(stream).arrayBuffer());
  }, program);
  for (let n = 0; n < expected.length; n += 100) {
    const part = expected.slice(n, n + 100);
    const got = await plain.evaluate(async (part) => {
      const got = [];
      for (const { text, profile } of part) {
        got.push([await window.ask({ ask: "check", text, profile }), await window.ask({ ask: "repair", text, profile })]);
      }
      return got;
    }, part);
    part.forEach(({ answer, repaired }, i) => assert.deepEqual(got[i], [answer, repaired]));
  }
  console.log(`the page judges, marks, repairs and copies, in two widths and two color schemes, and sends no request; ${expected.length} vectors give the same answers as on the command line`);
} finally {
  await browser.close();
  server.close();
}
