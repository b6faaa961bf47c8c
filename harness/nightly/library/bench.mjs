// How long a call takes in JavaScript, next to a start of the program: `bench.mjs BRICKBAT PACKAGE FOLDER` prints JSON, on Node.js,
// Deno or Bun. CPU time, in microseconds, the median of five rounds; a start of the program is measured in real time.
import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [brickbat, root, folder] = process.argv.slice(2).map((path) => resolve(path));
const before = process.cpuUsage();
const { check } = await import(pathToFileURL(join(root, "index.js")).href);
const { vectors } = JSON.parse(readFileSync(join(folder, "expected.json"), "utf8"));
const own = vectors.filter(({ profile, text }) => profile === "anthropic-messages" && text.length > 500 && text.length < 3000);
const bodies = (verdict) => own.filter((vector) => vector.verdict.verdict === verdict).map(({ text }) => JSON.parse(text));
const good = bodies("accepted");
check(good[0], { dialect: "anthropic-messages" });
const { user, system } = process.cpuUsage(before);

function median(rounds) {
  return Math.round(rounds.sort((a, b) => a - b)[rounds.length >> 1] * 10) / 10;
}

function measured(bodies) {
  const round = () => {
    const start = process.cpuUsage();
    for (let n = 0; n < 2000; n++) check(bodies[n % bodies.length], { dialect: "anthropic-messages" });
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 2000;
  };
  round();
  return median([1, 2, 3, 4, 5].map(round));
}

const spawn = () => {
  const began = performance.now();
  spawnSync(brickbat, ["check", "--dialect", "anthropic-messages", "-"], { input: JSON.stringify(good[0]) });
  return (performance.now() - began) * 1000;
};
console.log(
  JSON.stringify({
    runtime: process.versions.deno ? `Deno ${process.versions.deno}` : process.versions.bun ? `Bun ${process.versions.bun}` : `Node.js ${process.versions.node}`,
    start_us: user + system,
    accepted_us: measured(good),
    refused_us: measured(bodies("refused")),
    module_bytes: statSync(join(root, "rules.wasm")).size,
    spawn_wall_us: median([1, 2, 3, 4, 5].map(spawn)),
  }),
);
