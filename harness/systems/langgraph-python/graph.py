"""An application around a graph of LangGraph: its checkpointer, its tools, and the states of calls that the user sees."""
import asyncio
import json

from langchain_core.messages import messages_to_dict
from langchain_core.tools import StructuredTool, ToolException
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from brickbat_adapter import gate

# Checkpoint writes in progress.
writes = set()


class Saver(AsyncSqliteSaver):
    """The SDK's saver. It counts its writes, because the harness continues when none is in progress."""

    async def aput(self, *args):
        return await watched(super().aput(*args))

    # LangGraph passes the path only to savers that have this parameter, and the order of results depends on it.
    async def aput_writes(self, config, writes, task_id, task_path=""):
        return await watched(super().aput_writes(config, writes, task_id, task_path))


async def watched(write):
    task = asyncio.ensure_future(write)
    writes.add(task)
    task.add_done_callback(writes.discard)
    return await task


async def settled():
    under_way = list(writes)
    await asyncio.gather(*under_way, return_exceptions=True)
    return bool(under_way)


def gated(given):
    async def run(**arguments):
        return await gate(given, arguments, ToolException)
    return StructuredTool(name=given["name"], description=given["description"], args_schema=given["inputSchema"],
                          coroutine=run, handle_tool_error=True)


async def show_results(node, change, show):
    """Shows the results in an update of the graph. The SDK reports no state for a running call."""
    for message in (change or {}).get("messages", ()) if node in ("model", "tools") else ():
        if message.type == "tool":
            await show(message.tool_call_id, "completed" if message.status == "success" else "failed", message.name)


async def stored(agent, config):
    state = await agent.aget_state(config)
    return json.loads(json.dumps(messages_to_dict(state.values.get("messages", [])), default=str))
