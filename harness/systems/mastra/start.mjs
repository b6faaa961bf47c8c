// Runs a program in Node.js of a least major version, such as `node start.mjs 22 adapter.mjs`. If this Node.js is older, the
// one that npm installed runs it.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const [least, program, ...args] = process.argv.slice(2);
const local = (path) => fileURLToPath(new URL(path, import.meta.url));
const isNew = Number(process.versions.node.split(".")[0]) >= Number(least);
const node = isNew ? process.execPath : local(`node_modules/node-${process.platform}-${process.arch}/bin/node`);
if (!existsSync(node)) {
  console.error(`${program} needs Node.js ${least} or later; this is ${process.version}.`);
  process.exit(1);
}
const { status, error } = spawnSync(node, [local(program), ...args], { stdio: "inherit" });
if (error) console.error(error.message);
process.exit(status ?? 1);
