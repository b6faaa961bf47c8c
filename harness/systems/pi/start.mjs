// Starts the adapter. pi needs Node.js 22 or later; if this one is older, the one that npm installed is used.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const local = (path) => fileURLToPath(new URL(path, import.meta.url));
const isNew = Number(process.versions.node.split(".")[0]) >= 22;
const node = isNew ? process.execPath : local(`./node_modules/node-${process.platform}-${process.arch}/bin/node`);
if (!existsSync(node)) {
  console.error(`pi needs Node.js 22 or later; this is ${process.version}.`);
  process.exit(1);
}
const { status, error } = spawnSync(node, [local("./adapter.mjs")], { stdio: "inherit" });
if (error) console.error(error.message);
process.exit(status ?? 1);
