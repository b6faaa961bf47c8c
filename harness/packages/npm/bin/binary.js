// Finds the program that npm has installed for this machine.
import { createRequire } from "node:module";

const PACKAGES = { "linux x64": "@brickbat/linux-x64", "linux arm64": "@brickbat/linux-arm64" };

/** Returns the path of the binary. If there is none, throws an error with the fix. */
export function binary() {
  const machine = `${process.platform} ${process.arch}`;
  const name = PACKAGES[machine];
  if (name === undefined) {
    throw new Error(`brickbat has no binary for ${machine}; it has them for ${Object.keys(PACKAGES).join(" and ")}`);
  }
  try {
    return createRequire(import.meta.url).resolve(`${name}/bin/brickbat`);
  } catch {
    throw new Error(`${name} is not installed; install brickbat again without --omit=optional`);
  }
}
