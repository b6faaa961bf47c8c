"""An application around a graph of LangGraph: its checkpointer, its tools, and the states of calls that the user sees."""
import asyncio
import json

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, messages_to_dict
from langchain_core.tools import StructuredTool, ToolException
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from brickbat_adapter import gate, saving

# Checkpoint writes in progress.
writes = set()


class Saver(AsyncSqliteSaver):
    """The SDK's saver. It counts its writes, because the harness continues when none is in progress, and can delay them and
    let them fail."""

    async def of(self, spec, config):
        """Prepares a turn: the entries that the store has are not new."""
        self.spec, last = spec, await self.aget_tuple(config)
        self.known = entries([*messages(last.checkpoint), *last.pending_writes]) if last else set()

    async def aput(self, config, checkpoint, *args):
        # The configuration that `aput` of the SDK returns.
        known = {key: config["configurable"].get(key, "") for key in ("thread_id", "checkpoint_ns")}
        put = {"configurable": {**known, "checkpoint_id": checkpoint["id"]}}
        return await self.written(entries(messages(checkpoint)), super().aput(config, checkpoint, *args)) or put

    # LangGraph passes the path only to savers that have this parameter, and the order of results depends on it.
    async def aput_writes(self, config, writes, task_id, task_path=""):
        # The input of the graph is not in the thread yet: the next input would replace it.
        new = {entry for entry in entries(writes) if entry[0] != "user"}
        await self.written(new, super().aput_writes(config, writes, task_id, task_path))

    async def written(self, stored, write):
        """Writes a checkpoint, or the writes of a task. The database keeps the whole or nothing."""
        new = stored - self.known
        self.known |= new
        kept = 0
        try:
            async with saving(self.spec, len(new), whole=True) as kept:
                return await watched(write) if kept == len(new) else None
        finally:
            if kept < len(new):
                self.known -= new
            write.close()


def messages(checkpoint):
    return checkpoint["channel_values"].get("messages", ())


def entries(values):
    """The entries of a thread in messages, or in tuples and lists with messages: user messages, calls and results."""
    if isinstance(values, HumanMessage):
        return {("user", str(values.content))}
    if isinstance(values, AIMessage):
        return {("call", call["id"]) for call in values.tool_calls}
    if isinstance(values, ToolMessage):
        return {("result", values.tool_call_id)}
    return set().union(*map(entries, values)) if isinstance(values, (list, tuple)) else set()


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
