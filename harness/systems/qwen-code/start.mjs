// Starts Qwen Code over ACP. It needs Node.js 22 or later; if this one is older, the one that npm installed is used.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const local = (path) => fileURLToPath(new URL(`./node_modules/${path}`, import.meta.url));
const isNew = Number(process.versions.node.split(".")[0]) >= 22;
const node = isNew ? process.execPath : local(`node-${process.platform}-${process.arch}/bin/node`);
if (!existsSync(node)) {
  console.error(`Qwen Code needs Node.js 22 or later; this is ${process.version}.`);
  process.exit(1);
}
const { status, error } = spawnSync(node, [local("@qwen-code/qwen-code/cli.js"), "--acp"], { stdio: "inherit" });
if (error) console.error(error.message);
process.exit(status ?? 1);
