// Uses the page for pasted requests in a headless Chromium: with the keyboard, in both widths and both tones.
// `node paste.mjs PAGE.html ANSWERS.json PICTURES`, with `puppeteer-core` next to the working directory and the browser in
// $CHROMIUM. ANSWERS.json is what `paste_vectors.mjs` wrote.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const puppeteer = createRequire(`${process.cwd()}/`)("puppeteer-core");
const [file, answers, pictures] = process.argv.slice(2);
const html = readFileSync(file, "utf8");

const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
// A server that notes who asks for what, so that it would be seen if the page asked for anything.
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
  // Sizes and tones, from a server and from a file.
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
    // The marked place is that of the call, in the text and in the excerpt.
    assert.match(await page.$eval("#marks mark", (mark) => mark.textContent), /toolu_2/);
    assert.match(await page.$eval(".excerpt mark", (mark) => mark.textContent), /toolu_2/);
    // The copy under the box lies under it letter by letter, or the mark would be at another place.
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

  // With the keyboard alone: a text is typed, judged, mended, and put back.
  const { page, wrong } = await opened(`${address}/paste.html`, wide, "light");
  await page.focus("#text");
  await page.keyboard.type('{"model":"gpt-5","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"t","arguments":"{}"}}]},{"role":"user","content":"b"}]}');
  await page.keyboard.down("Control");
  await page.keyboard.press("Enter");
  await page.keyboard.up("Control");
  await settled(page, "refused");
  assert.match(await verdict(page), /by openai-chat@/);
  assert.equal(await page.evaluate(() => document.activeElement.id), "verdict");
  const mended = await page.waitForSelector("#copy");
  await browser.defaultBrowserContext().overridePermissions(address, ["clipboard-read", "clipboard-sanitized-write"]);
  await mended.focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("#repair [role=status]").textContent === "Copied.");
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(JSON.parse(copied).messages[2].role, "tool");
  // From the button to the next two, and the text is what was copied.
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await settled(page, "accepted");
  assert.equal(await page.$eval("#text", (text) => text.value), copied);
  // A host is as strict as it is, and a profile says more than a host.
  await page.type("#host", "api.deepseek.com");
  await page.keyboard.press("Tab");
  await page.waitForFunction(() => document.querySelector("#verdict").textContent.includes("deepseek@"));
  await page.select("#profile", "openai-chat@2026-09");
  await page.waitForFunction(() => document.querySelector("#verdict").textContent.includes("openai-chat@2026-09"));
  assert.ok(await page.$eval("#host", (host) => host.disabled));
  await page.select("#profile", "");
  // A place is brought into view and selected.
  await page.click("#example");
  await settled(page, "refused");
  await page.click("#findings article button");
  const selected = () => page.$eval("#text", (text) => text.value.slice(text.selectionStart, text.selectionEnd));
  assert.match(await selected(), /^\{[^]*toolu_2/);
  // Hostile words are words.
  const script = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
  await page.$eval("#text", (text, script) => {
    text.value = JSON.stringify({ model: "claude-x", messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: script }] }] });
    text.dispatchEvent(new Event("input"));
  }, script);
  await page.waitForFunction(() => document.querySelector("#findings").textContent.includes("onerror"));
  assert.equal(await page.$$eval("#findings img, #findings script", (found) => found.length), 0);
  assert.equal(await page.title(), "Paste a refused request – Brickbat");
  // Dark and light.
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.click("#theme");
  assert.notEqual(await ground(), light);
  assert.deepEqual(wrong, []);

  // Nothing left: not by itself, and not when a script in it tries.
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

  // The program of the page answers in this browser what it answers in Node.js, and what the command line says.
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
  console.log(`the page judges, marks, mends and copies, in two widths and two tones; nothing leaves it; ${expected.length} vectors as on the command line`);
} finally {
  await browser.close();
  server.close();
}
