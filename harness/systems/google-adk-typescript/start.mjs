// Starts the adapter with Node.js 24 or later; if this one is older, the one that npm installed is used. Before version 24,
// a stop sometimes leaves the read of a reply open forever: nodejs/undici#4089.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const local = (path) => fileURLToPath(new URL(path, import.meta.url));
const isNew = Number(process.versions.node.split(".")[0]) >= 24;
const node = isNew ? process.execPath : local(`./node_modules/node-${process.platform}-${process.arch}/bin/node`);
if (!existsSync(node)) {
  console.error(`This adapter needs Node.js 24 or later; this is ${process.version}.`);
  process.exit(1);
}
const { status, error } = spawnSync(node, [local("./adapter.mjs")], { stdio: "inherit" });
if (error) console.error(error.message);
process.exit(status ?? 1);
