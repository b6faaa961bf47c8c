// Starts Copilot CLI over ACP. It accepts no stdio MCP server from its client ("Rejecting non-http/sse MCP server"), so
// this script writes the session's server to the folder's `.mcp.json`, where users configure theirs.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const copilot = fileURLToPath(
  new URL(`./node_modules/@github/copilot-${process.platform}-${process.arch}/copilot`, import.meta.url),
);
const agent = spawn(copilot, process.argv.slice(2), { stdio: ["pipe", "inherit", "inherit"] });
agent.on("exit", (code) => process.exit(code ?? 1));
agent.on("error", ({ message }) => {
  console.error(message);
  process.exit(1);
});

/** Moves the servers of a session from the message into its folder. */
function configure({ cwd, mcpServers, ...others }) {
  const entry = ({ name, command, args, env }) => [
    name, { type: "local", command, args, env: Object.fromEntries(env.map(({ name, value }) => [name, value])), tools: ["*"] },
  ];
  writeFileSync(join(cwd, ".mcp.json"), JSON.stringify({ mcpServers: Object.fromEntries(mcpServers.map(entry)) }));
  return { cwd, mcpServers: [], ...others };
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.params?.mcpServers) message.params = configure(message.params);
  agent.stdin.write(`${JSON.stringify(message)}\n`);
}
agent.stdin.end();
