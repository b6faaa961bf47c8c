// Tests an HTML report in a headless Chromium. `node report.mjs REPORT.html PICTURE.png`, with `puppeteer-core` next to the
// working directory and the browser in $CHROMIUM.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { statSync } from "node:fs";
import { pathToFileURL } from "node:url";

const puppeteer = createRequire(`${process.cwd()}/`)("puppeteer-core");
const [report, picture] = process.argv.slice(2);
assert.ok(statSync(report).size < 5 * 1024 * 1024, "the report is larger than 5 MB");

const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu"],
});
try {
  const page = await browser.newPage();
  const requests = [];
  const errors = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.setViewport({ width: 1100, height: 1600 });
  await page.goto(pathToFileURL(report).href);

  // The report loads no other file.
  assert.equal(requests.filter((url) => !url.startsWith("file:")).length, 0, requests.join("\n"));

  // The report shows causes, a timeline with the fault, and the offending block of a request.
  const causes = await page.$$("details.cause");
  assert.ok(causes.length > 0, "the report shows no cause");
  assert.ok((await page.$$(".step.fault")).length > 0, "no timeline shows a fault");
  assert.ok((await page.$$("pre mark")).length > 0, "no block is marked");

  // A click opens a cause and closes it.
  const isOpen = () => page.$eval("details.cause", (cause) => cause.open);
  const before = await isOpen();
  await page.click("details.cause > summary");
  assert.notEqual(await isOpen(), before);

  // The search hides items that do not match.
  const shown = () => page.$$eval("[data-words]", (items) => items.filter((item) => !item.hidden).length);
  const all = await shown();
  await page.type("#search", "bricked abort");
  const some = await shown();
  assert.ok(some > 0 && some < all, `${some} of ${all}`);

  // The dark and the light theme.
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.click("#theme");
  assert.notEqual(await background(), light);
  await page.click("#theme");

  await page.$eval("#search", (search) => {
    search.value = "";
    search.dispatchEvent(new Event("input"));
  });
  if (picture) await page.screenshot({ path: picture });

  // The report fits the width of a phone.
  await page.setViewport({ width: 390, height: 844 });
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 390, `${width} pixels wide on a phone`);
  assert.deepEqual(errors, []);
} finally {
  await browser.close();
}
console.log("the report opens, folds, searches, switches to dark, and fits a phone");
