#!/usr/bin/env node
// Runs the program with the same arguments and standard streams, and exits with its status.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { binary } from "./binary.js";

let path;
try {
  path = binary();
} catch (error) {
  console.error(`error: ${error.message}`);
  process.exit(3);
}
const child = spawn(path, process.argv.slice(2), { stdio: "inherit" });
// The terminal sends Ctrl-C to both processes, and the program decides when to end. Other signals are passed on.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`error: cannot start ${path}: ${error.message}`);
  process.exit(3);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
