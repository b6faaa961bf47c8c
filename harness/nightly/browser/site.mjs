// Opens every page of a results site in a headless Chromium at two widths. `node site.mjs SITE PICTURES`, with `puppeteer-core`
// next to the working directory and the browser in $CHROMIUM. The folder PICTURES gets a picture of each kind of page.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const puppeteer = createRequire(`${process.cwd()}/`)("puppeteer-core");
const [site, pictures] = process.argv.slice(2);
const WIDTHS = [375, 1280];
// A picture is cut here: the overview of all systems is long.
const MAX_HEIGHT = 2400;

const pagesIn = (folder) =>
  readdirSync(path.join(site, folder))
    .filter((name) => name.endsWith(".html"))
    .sort()
    .map((name) => path.join(folder, name));
const pages = ["", "systems", "causes"].flatMap(pagesIn);
const kinds = [...pagesIn(""), pagesIn("systems")[0], pagesIn("causes")[0]].filter(Boolean);
mkdirSync(pictures, { recursive: true });

// The badges are as shields.io reads them.
const badges = readdirSync(path.join(site, "badges"));
for (const name of badges) {
  const badge = JSON.parse(readFileSync(path.join(site, "badges", name), "utf8"));
  assert.equal(badge.schemaVersion, 1, name);
  for (const key of ["label", "message", "color"]) assert.ok(typeof badge[key] === "string" && badge[key], `${name}: ${key}`);
}
assert.equal(badges.length, JSON.parse(readFileSync(path.join(site, "results.json"), "utf8")).systems.length);

const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
try {
  const page = await browser.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith("file:")) errors.push(`the page loads ${request.url()}`);
  });
  const feed = readFileSync(path.join(site, "feed.xml"), "utf8");
  const isXml = (text) => !new DOMParser().parseFromString(text, "application/xml").querySelector("parsererror");
  assert.ok(await page.evaluate(isXml, feed), "feed.xml is not well formed");
  for (const width of WIDTHS) {
    await page.setViewport({ width, height: 900 });
    for (const name of pages) {
      await page.goto(pathToFileURL(path.join(site, name)).href);
      const scrolls = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(scrolls <= width, `${name} is ${scrolls} px wide at ${width} px`);
      assert.equal(await page.$$eval("h1", (found) => found.length), 1, name);
      assert.equal(await page.$$eval("img, iframe, form", (found) => found.length), 0, name);
      if (!kinds.includes(name)) continue;
      const height = Math.min(await page.evaluate(() => document.documentElement.scrollHeight), MAX_HEIGHT);
      const picture = `${name.replaceAll("/", "-").replace(".html", "")}.${width}.png`;
      await page.screenshot({ path: path.join(pictures, picture), clip: { x: 0, y: 0, width, height } });
    }
  }
  // The search hides the systems that do not match.
  await page.goto(pathToFileURL(path.join(site, "index.html")).href);
  const shown = () => page.$$eval("tr[data-words]", (rows) => rows.filter((row) => !row.hidden).length);
  const all = await shown();
  await page.type("#search", "no such system");
  assert.deepEqual([all > 0, await shown()], [true, 0]);
  assert.deepEqual(errors, []);
  console.log(`${pages.length} pages at ${WIDTHS.join(" and ")} px, ${badges.length} badges`);
} finally {
  await browser.close();
}
