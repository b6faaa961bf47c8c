// Where the program is that npm has installed for this machine.
import { createRequire } from "node:module";

const PACKAGES = { "linux x64": "@brickbat/linux-x64", "linux arm64": "@brickbat/linux-arm64" };

/** The path of the binary. Throws an error that says what to do if there is none. */
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
