"""Lets Brickbat drive the tool runner of Anthropic's SDK for Python. README.md describes what it stores and when."""
import asyncio
import json
from importlib.metadata import version

from anthropic import AsyncAnthropic, beta_async_tool
from anthropic.lib.tools import ToolError
from brickbat_adapter import gate, serve, stoppable

SDK = "anthropic"
# More steps than any scenario has. It bounds a system that never stops calling the model.
MAX_STEPS = 20
# Tools that the provider runs.
SEARCH = {"type": "web_search_20250305", "name": "web_search", "max_uses": 5}


def gated(given):
    async def run(**arguments):
        return await gate(given, arguments, ToolError)
    return beta_async_tool(
        run, name=given["name"], description=given["description"], input_schema=given["inputSchema"])


async def turn(spec, store, text, stopped, show):
    messages = [*json.loads(store.load() or "[]"), {"role": "user", "content": text}]

    def keep(*said):
        messages.extend(said)
        store.save(json.dumps(messages).encode())

    keep()
    runner = AsyncAnthropic(api_key="none", base_url=spec["baseUrl"]).beta.messages.tool_runner(
        model=spec.get("model") or "claude-haiku-4-5",
        max_tokens=4096,
        max_iterations=spec.get("maxSteps", MAX_STEPS),
        messages=list(messages),
        tools=[*map(gated, spec["tools"]), *([SEARCH] if spec.get("search") else [])],
        stream=True,
        # By default the provider keeps the conversation.
        thread=False,
        **({"thinking": {"type": "enabled", "budget_tokens": 1024}} if spec.get("thinking") else {}),
    )

    async def run():
        async for stream in runner:
            reply = await stream.get_final_message()
            # A reply that ends inside a call is not stored: the application must request it again with more tokens.
            if reply.stop_reason == "max_tokens" and reply.content and reply.content[-1].type == "tool_use":
                store.repaired("drop-cut-call")
                raise RuntimeError("the reply ends at max_tokens, within a call")
            said = {"role": "assistant", "content": [block.to_dict() for block in reply.content]}
            # The runner runs tools only after this stop reason. This call returns the message that it will send.
            results = await runner.generate_tool_call_response() if reply.stop_reason == "tool_use" else None
            # A reply is stored together with its results, because the runner sends both or neither.
            keep(said, *([results] if results else []))
            for result in results["content"] if results else []:
                # The SDK reports no state for a running call.
                await show(result["tool_use_id"], "failed" if result.get("is_error") else "completed")

    await stoppable(run(), stopped)


about = {"sdk": SDK, "version": version(SDK), "modes": ["steps"],
         "capabilities": {"serverTools": True, "sharedSession": True, "stepLimit": True, "thinking": True}}
serve(about, ["anthropic-messages"], turn, asyncio.CancelledError,
      read=lambda _, store: json.loads(store.load() or "[]"))
