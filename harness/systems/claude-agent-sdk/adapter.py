"""Lets Brickbat drive the Claude Agent SDK for Python, the way an application uses it. See README.md."""
import asyncio
import json
import uuid
from pathlib import Path

from claude_agent_sdk import (
    ClaudeAgentOptions, ClaudeSDKClient, HookMatcher, PermissionResultAllow, PermissionResultDeny, ResultMessage,
    ToolAnnotations, ToolResultBlock, UserMessage, __version__, create_sdk_mcp_server, tool,
)
from brickbat_adapter import gate, serve

SDK = "claude-agent-sdk"
SERVER = "brickbat"


class Failed(Exception):
    """A tool that returns an error."""


class Cancelled(Exception):
    """The result reports that the turn was aborted."""


def gated(given):
    # Read-only tools may run in parallel.
    @tool(given["name"], given["description"], given["inputSchema"], annotations=ToolAnnotations(readOnlyHint=True))
    async def run(arguments):
        try:
            return {"content": [{"type": "text", "text": await gate(given, arguments, Failed)}]}
        except Failed as error:
            return {"content": [{"type": "text", "text": str(error)}], "is_error": True}
    return run


class Conversation:
    """A client connected to its own Claude Code process, with the state that it needs of the session and the turn."""

    def __init__(self, spec, store):
        self.folder, self.id = Path(spec["stateDir"]), str(uuid.UUID(store.file.stem))
        self.spec, self.client, self.ask, self.notes = spec, None, None, []
        self.thinks = spec.get("thinking", False)

    def transcripts(self):
        return sorted((self.folder / "claude").glob("projects/*/*.jsonl"), key=lambda file: file.stat().st_mtime)

    def options(self):
        """The options of the guides: the application's tools in an SDK server, without Claude Code's own tools."""
        name = f"mcp__{SERVER}__{{}}".format
        is_stored = any(file.stem == self.id for file in self.transcripts())
        return ClaudeAgentOptions(
            mcp_servers={SERVER: create_sdk_mcp_server(SERVER, tools=[gated(given) for given in self.spec["tools"]])},
            tools=[],
            allowed_tools=[name(given["name"]) for given in self.spec["tools"] if not given["asks"]],
            can_use_tool=self.allow,
            hooks={"PostToolUse": [HookMatcher(hooks=[self.after_tool])]},
            setting_sources=[],
            model=self.spec.get("model") or "claude-haiku-4-5",
            max_turns=self.spec.get("maxSteps"),
            thinking={"type": "enabled", "budget_tokens": 2048} if self.thinks else {"type": "disabled"},
            cwd=self.folder,
            env={
                "ANTHROPIC_BASE_URL": self.spec["baseUrl"],
                "ANTHROPIC_API_KEY": "any-key",
                "CLAUDE_CONFIG_DIR": str(self.folder / "claude"),
            },
            **({"resume": self.id} if is_stored else {"session_id": self.id}),
        )

    async def allow(self, name, arguments, context):
        allowed = await self.ask(context.tool_use_id)
        return PermissionResultAllow() if allowed else PermissionResultDeny(message="The user has refused.")

    async def after_tool(self, given, call_id, context):
        """The hook that can add context after a tool. Here it adds the text of `inject`."""
        if not self.notes:
            return {}
        return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": self.notes.pop(0)}}

    async def connected(self):
        if not self.client:
            self.client = ClaudeSDKClient(self.options())
            await self.client.connect()
        return self.client

    async def close(self):
        if self.client:
            client, self.client = self.client, None
            await client.disconnect()


# By session file.
conversations = {}


def of(spec, store):
    return conversations.setdefault(store.file, Conversation(spec, store))


async def turn(spec, store, text, stopped, show, ask=None):
    conversation = of(spec, store)
    conversation.ask = ask
    client = await conversation.connected()
    await client.query(text)
    stopped.add_done_callback(lambda _: asyncio.ensure_future(client.interrupt()))
    result = None
    async for message in client.receive_response():
        # The SDK reports no state for a running call.
        if isinstance(message, UserMessage) and isinstance(message.content, list):
            for block in message.content:
                if isinstance(block, ToolResultBlock):
                    await show(block.tool_use_id, "failed" if block.is_error else "completed")
        if isinstance(message, ResultMessage):
            result = message
    if result.terminal_reason in ("aborted_streaming", "aborted_tools"):
        raise Cancelled
    if result.is_error:
        raise type(result.subtype, (Exception,), {})(result.result or "; ".join(result.errors or []))


async def act(spec, store, action):
    conversation = of(spec, store)
    if "inject" in action:
        conversation.notes.append(action["inject"])
    elif "on" in action["change"]:
        # A client keeps the options that it was connected with.
        conversation.thinks = action["change"]["on"]
        await conversation.close()
    else:
        client = await conversation.connected()
        await client.query("/compact")
        async for _ in client.receive_response():
            pass


async def closed(spec, store):
    if conversation := conversations.pop(store.file, None):
        await conversation.close()


def read(spec, store):
    """The transcript of the session, as Claude Code writes it."""
    return [json.loads(line) for file in of(spec, store).transcripts() for line in file.read_text().splitlines()]


# Claude Code reads and writes in its own process, which this one cannot observe, so there is no barrier.
about = {"sdk": SDK, "version": __version__, "modes": ["client"],
         "capabilities": {"barrier": False, "eagerTools": True, "approvals": True, "thinking": True, "stepLimit": True,
                          "hooks": True, "changes": {"summarise": True, "thinking": True}}}
serve(about, ["anthropic-messages"], turn, Cancelled, read=read, act=act, closed=closed)
