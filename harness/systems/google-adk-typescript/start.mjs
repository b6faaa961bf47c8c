// Starts the adapter with a Node.js whose fetch ends a read that the user has stopped: it needs 24 or later, and npm has
// installed one. Earlier ones now and then leave the read of a reply open for ever: nodejs/undici#4089.
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
