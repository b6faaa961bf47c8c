// Starts the opencode that npm installed for this machine. Its own launcher needs an install script, and those do not run.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const platform = { win32: "windows" }[process.platform] ?? process.platform;
const base = `opencode-${platform}-${process.arch}`;

/** Processors without AVX2 need the baseline build. If the features are unknown, the plain build is tried. */
function isOld() {
  if (process.arch !== "x64" || process.platform !== "linux") return false;
  return !/\bavx2\b/.test(readFileSync("/proc/cpuinfo", "utf8"));
}

const names = isOld() ? [`${base}-baseline`, base] : [base, `${base}-baseline`];
const program = platform === "windows" ? "opencode.exe" : "opencode";
const found = names
  .map((name) => fileURLToPath(new URL(`./node_modules/${name}/bin/${program}`, import.meta.url)))
  .find(existsSync);
if (!found) {
  console.error(`opencode is not installed for this machine: npm package ${names.join(" or ")} is missing.`);
  console.error("The lockfile pins only the builds for Linux on x64. For other machines, write your own manifest.");
  process.exit(1);
}
const { status, error } = spawnSync(found, process.argv.slice(2), { stdio: "inherit" });
if (error) console.error(error.message);
process.exit(status ?? 1);
