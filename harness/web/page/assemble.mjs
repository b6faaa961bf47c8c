// Assembles the page: `node assemble.mjs PROGRAM.wasm PAGE.html`. The page is a single file, and its policy allows only its own
// script and style.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const [program, page] = process.argv.slice(2);
const part = (name) => readFileSync(new URL(name, import.meta.url), "utf8");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const style = part("page.css");
// Modules in a single file cannot import each other.
const script = `(async () => {\n${part("wasi.mjs").replaceAll(/^export /gm, "")}${part("page.mjs").replaceAll(/^import .*$/gm, "")}})();\n`;
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)} 'wasm-unsafe-eval'`,
  `style-src ${hash(style)}`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
const parts = { policy, style, script, program: gzipSync(readFileSync(program), { level: 9 }).toString("base64") };
writeFileSync(page, part("page.html").replaceAll(/\{\{(\w+)\}\}/g, (_, name) => parts[name]));
