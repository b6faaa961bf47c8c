// Tests `brickbat/test` in separate test runs. Run it with `node --test`, with `openai` and `brickbat` installed.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { assertHistory, BrickbatError, StrictProvider, strictProvider } from "brickbat/test";

/** Runs a test file and returns its status and output. */
function run(context, source) {
  const folder = mkdtempSync(join(import.meta.dirname ?? process.cwd(), "inner-"));
  context.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "inner.test.mjs"), `import { test } from "node:test";
    import { strictProvider } from "brickbat/test";
    const ask = (url, messages) => fetch(url + "/chat/completions", { method: "POST", body: JSON.stringify({ model: "gpt-5", messages, stream: true,
      tools: [{ type: "function", function: { name: "look_up", parameters: { type: "object" } } }] }) }).then((answer) => answer.text());
    const user = { role: "user", content: "Look." };
    const call = { id: "call_1", type: "function", function: { name: "look_up", arguments: "{}" } };
    const broken = [user, { role: "assistant", content: null, tool_calls: [call] }, user];
    ${source}`);
  // Hide the outer runner, because an inner one would report to it.
  const { NODE_TEST_CONTEXT, ...env } = process.env;
  const { status, stdout } = spawnSync(process.execPath, ["--test", "--test-reporter=tap", "inner.test.mjs"], { cwd: folder, env, encoding: "utf8" });
  return { status, output: stdout };
}

test("a rejected request fails the test with the message of the provider, unless it is allowed", (context) => {
  const { status, output } = run(context, `
    test("refused", async (t) => { const provider = await strictProvider(t); await ask(provider.openai, broken); });
    test("allowed", async (t) => {
      const provider = await strictProvider(t, { allowRefusals: true });
      await ask(provider.openai, broken);
      const [refusal] = await provider.refusals();
      t.assert?.equal(refusal.rule, "openai-chat/tool-message-missing");
    });
    test("thrown", async (t) => { const provider = await strictProvider(t); await ask(provider.openai, broken); throw new Error("own"); });
    test("accepted", async (t) => { const provider = await strictProvider(t); await ask(provider.openai, [user]); });
  `);
  assert.equal(status, 1, output);
  for (const line of ["not ok 1 - refused", "ok 2 - allowed", "not ok 3 - thrown", "ok 4 - accepted"]) assert.ok(output.includes(line), output);
  assert.match(output, /the strict provider refused a request/);
  assert.match(output, /request 0: openai-chat\/tool-message-missing at \/messages\/1.*status 400/);
  assert.match(output, /An assistant message with 'tool_calls' must be followed by tool messages/);
});

test("an unused provider or an unreached point fails the test", (context) => {
  const { status, output } = run(context, `
    test("unused", async (t) => { const provider = await strictProvider(t); await fetch(provider.url + "/v2/nowhere"); });
    test("allowed", async (t) => { await strictProvider(t, { allowUnused: true }); });
    test("unreached", async (t) => {
      const provider = await strictProvider(t);
      await provider.stopAt("after end a of reply 7");
      await ask(provider.openai, [user]);
    });
  `);
  assert.equal(status, 1, output);
  for (const line of ["not ok 1 - unused", "ok 2 - allowed", "not ok 3 - unreached"]) assert.ok(output.includes(line), output);
  assert.match(output, /no request came to the strict provider/);
  assert.match(output, /GET \/v2\/nowhere: nothing answers there/);
  assert.match(output, /`stop after end a of reply 7` did not happen/);
});

test("a provider that is not closed does not block the exit of the runner", (context) => {
  const { status, output } = run(context, `test("forgotten", async () => { await strictProvider(); });`);
  assert.equal(status, 0, output);
});

test("bad options, points and contexts are reported", async () => {
  await assert.rejects(strictProvider({}), /expected the context/);
  await assert.rejects(StrictProvider.start({ hots: "api.x.ai" }), /no option hots/);
  await assert.rejects(StrictProvider.start({ host: "llm.example.org" }), /not known how strict/);
  const provider = await StrictProvider.start();
  await assert.rejects(provider.stopAt("after lunch"), /no point of a reply/);
  const stop = await provider.stopAt("after calls");
  await assert.rejects(stop.reached({ timeout: 1 }), /was not reached in 0.001 s/);
  await provider.stop();
  await assert.rejects(stop.reached(), BrickbatError);
  await assert.rejects(provider.report(), /has exited/);
});

test("histories are judged", () => {
  const user = { role: "user", content: "Go on." };
  const call = { id: "call_1", type: "function", function: { name: "look_up", arguments: "{}" } };
  const asked = { role: "assistant", content: null, tool_calls: [call] };
  assertHistory([user, asked, { role: "tool", tool_call_id: "call_1", content: "found" }, user]);
  assert.throws(() => assertHistory([user, asked, user]), { name: "AssertionError", message: /openai-chat\/tool-message-missing/ });
  assert.throws(() => assertHistory([user, asked, user], { host: "api.deepseek.com" }), /deepseek/);
  assert.throws(() => assertHistory([user], { dialect: "klingon" }), { name: "TypeError", message: /cannot be judged/ });
});

test("a runner that is killed leaves no provider", async () => {
  const script = `import { strictProvider } from "brickbat/test";
    const provider = await strictProvider(); console.log(provider.url); setInterval(() => {}, 1000);`;
  const runner = spawn(process.execPath, ["--input-type=module", "--eval", script], { stdio: ["ignore", "pipe", "inherit"] });
  const [url] = await once(createInterface({ input: runner.stdout }), "line");
  assert.equal((await fetch(`${url}/_brickbat/state`)).status, 200);
  // The provider keeps this open until it exits.
  const socket = (await import("node:net")).connect(new URL(url).port, "127.0.0.1");
  await once(socket, "connect");
  runner.kill("SIGKILL");
  socket.on("error", () => {});
  await once(socket, "close");
});
