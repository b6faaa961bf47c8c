"""langgraph 1.2.22: when the user stops the turn after settled 1, a request breaks a rule of the provider: every call is answered in the next message

In turn 1 the user stops the turn after settled 1.
Then: messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01h85SE1o40AY4q99fyV9DDg, toolu_01u5GrdyFixoJkkkRQwDP4Ux, toolu_017hqiZQYgmUVe6WattlSrR9. Each `tool_use` block must have a corresponding `tool_result` block in the next message.

Expected: The provider accepts every request of the thread: every call is answered in the next message.
Fails on langgraph 1.2.22.

Made by `brickbat export` from `abort/mid-batch#k=1@anthropic-messages` on langgraph-python@1.2.22/durability-async; the test itself does not need Brickbat.
"""
import asyncio
import json
import socket
import struct
# requires: langgraph langchain langchain-core langchain-anthropic langchain-openai
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.tools import StructuredTool, ToolException
from langgraph.checkpoint.memory import InMemorySaver


class Application:
    """An agent with a checkpointer that keeps the thread."""

    def __init__(self, url, tools):
        model = ChatAnthropic(model="claude-haiku-4-5", base_url=url, api_key="none")
        self.agent = create_agent(model, tools=[self.tool(**tool) for tool in tools], checkpointer=InMemorySaver())

    def tool(self, name, description, inputSchema, run):
        async def tool(**arguments):
            try:
                return await run(**arguments)
            except ToolError as error:
                raise ToolException(str(error)) from error
        return StructuredTool(
            name=name, description=description, args_schema=inputSchema, coroutine=tool, handle_tool_error=True)

    async def turn(self, text, stopped):
        task = asyncio.current_task()
        stopped.add_done_callback(lambda _: task.cancel())
        said = {"messages": [{"role": "user", "content": text}]}
        durability = "async"
        stream = self.agent.astream(
            said, {"configurable": {"thread_id": "thread"}}, stream_mode=["updates", "messages"], durability=durability)
        async for _ in stream:
            pass


def test_abort_mid_batch_k_1_anthropic_messages():
    asyncio.run(asyncio.wait_for(scenario(), timeout=60))


async def scenario():
    provider = await Provider.start()
    tools = Toolbox()
    app = Application(provider.url, tools.offered)

    # Turn 1.
    turn_1 = Turn(app, "Look up the three orders.")
    await turn_1.until(tools.started("b"))
    await tools.settle("b")
    await turn_1.until(tools.started("c"), tools.started("a"))
    turn_1.stop()
    await turn_1.ended()

    # Turn 2.
    turn_2 = Turn(app, "What happened?")
    error = await turn_2.ended()

    provider.close()
    problems = [problem(json.loads(body)) for body in provider.requests]
    assert [found for found in problems if found] == []
    assert any("What happened?" in body for body in provider.requests), f"the last turn sent no request: {error!r}"


def problem(request):
    """Each tool_use has its tool_result in the next turn; messages of one role after another are one turn."""
    turns = []
    for message in request["messages"]:
        if not turns or turns[-1]["role"] != message["role"]:
            turns.append({"role": message["role"], "blocks": []})
        if isinstance(message["content"], list):
            turns[-1]["blocks"] += message["content"]
    for at, turn in enumerate(turns):
        following = turns[at + 1]["blocks"] if at + 1 < len(turns) else []
        answered = [block.get("tool_use_id") for block in following]
        calls = [block["id"] for block in turn["blocks"] if block["type"] == "tool_use"]
        still_open = [call for call in calls if call not in answered]
        if still_open:
            return f"no tool_result after turn {at + 1} for {still_open}"


# The tools that the model may call, and its calls of them.
TOOLS = [
    {"name": "lookup", "description": "The tool `lookup` of the test.", "inputSchema": {"type": "object", "properties": {"key": {"type": "string"}, "ref": {"type": "string"}}, "required": ["ref"], "additionalProperties": False}},
]
CALLS = {
    "a": {"ref":"a-do1nug","kind":"return","text":"found a [a-do1nug]"},
    "b": {"ref":"b-qovtso","kind":"return","text":"found b [b-qovtso]"},
    "c": {"ref":"c-tgda5o","kind":"return","text":"found c [c-tgda5o]"},
}

# The provider's replies, request by request, byte for byte as they were recorded.
REPLIES = [
    {"status": 200, "headers": {"content-type": "text/event-stream; charset=utf-8", "request-id": "req_b1d5fe79f90ea00800000000"}, "ending": "complete", "frames": [
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_01b1d5fe79f90ea00800000000\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-haiku-4-5\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":12,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":1}}}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
        "event: ping\ndata: {\"type\": \"ping\"}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Let me loo\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"k these up.\"}}\n\n",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_01h85SE1o40AY4q99fyV9DDg\",\"name\":\"lookup\",\"input\":{}}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"key\\\":\\\"a\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\\\",\\\"ref\\\":\\\"\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"a-do1nug\\\"}\"}}\n\n",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_01u5GrdyFixoJkkkRQwDP4Ux\",\"name\":\"lookup\",\"input\":{}}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"key\\\":\\\"b\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\\\",\\\"ref\\\":\\\"\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"b-qovtso\\\"}\"}}\n\n",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":2}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":3,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_017hqiZQYgmUVe6WattlSrR9\",\"name\":\"lookup\",\"input\":{}}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"key\\\":\\\"c\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\\\",\\\"ref\\\":\\\"\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"c-tgda5o\\\"}\"}}\n\n",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":3}\n\n",
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\",\"stop_sequence\":null},\"usage\":{\"input_tokens\":12,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":42}}\n\n",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    ] },
]
# Any later request gets a short text.
SPARE = {"status": 200, "headers": {"content-type": "text/event-stream; charset=utf-8", "request-id": "req_8e7fd82b89935b6300000000"}, "frames": ["event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_018e7fd82b89935b6300000000\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-haiku-4-5\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":12,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":1}}}\n\n", "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n", "event: ping\ndata: {\"type\": \"ping\"}\n\n", "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Done.\"}}\n\n", "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n", "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"input_tokens\":12,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":42}}\n\n", "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"], "ending": "complete"}


class ToolError(Exception):
    """A tool that returns an error."""


class ToolBroken(Exception):
    """A tool that throws."""


class Turn:
    """A running turn. `until` waits for a fact, and fails if the turn ends before it."""

    def __init__(self, app, text):
        self.text = text
        self.stopped = asyncio.get_running_loop().create_future()
        self.task = asyncio.create_task(app.turn(text, self.stopped))

    def stop(self):
        self.stopped.set_result(None)

    async def ended(self):
        """Returns the exception that the turn raised, if any."""
        await asyncio.wait([self.task])
        return asyncio.CancelledError() if self.task.cancelled() else self.task.exception()

    async def until(self, *facts):
        reached = asyncio.gather(*facts)
        await asyncio.wait([reached, self.task], return_when=asyncio.FIRST_COMPLETED)
        if not reached.done():
            reached.cancel()
            raise RuntimeError(f"the turn {self.text!r} ended too early") from await self.ended()


class Toolbox:
    """Tools with calls that end when the test decides. A call is identified by its argument `ref`."""

    def __init__(self):
        self.runs = []
        self.starts = {name: asyncio.Event() for name in CALLS}
        self.ends = {name: asyncio.Event() for name in CALLS}
        self.offered = [dict(tool, run=self.run) for tool in TOOLS]

    async def run(self, **arguments):
        name = next((name for name, call in CALLS.items() if call["ref"] == arguments.get("ref")), None)
        self.runs.append((name, arguments))
        if name is None:
            raise ToolError("the model has not made this call")
        self.starts[name].set()
        await self.ends[name].wait()
        kind, text = CALLS[name]["kind"], CALLS[name]["text"]
        if kind == "return":
            return text
        raise (ToolError if kind == "error" else ToolBroken)(text)

    async def started(self, name):
        await self.starts[name].wait()

    async def settle(self, name):
        self.ends[name].set()
        await consumed()


class Provider:
    """Sends the recorded replies. It holds a reply where the recording did, until the test releases it."""

    @classmethod
    async def start(cls):
        provider = cls()
        provider.requests = []
        provider.reached = [asyncio.Event() for _ in REPLIES]
        provider.released = [asyncio.Event() for _ in REPLIES]
        provider.server = await asyncio.start_server(provider.answer, "127.0.0.1", 0)
        provider.url = "http://127.0.0.1:%d" % provider.server.sockets[0].getsockname()[1]
        return provider

    async def answer(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = next(line.split(":")[1] for line in head.split("\r\n") if line.startswith("content-length:"))
        self.requests.append((await reader.readexactly(int(length))).decode())
        n = len(self.requests) - 1
        reply = REPLIES[n] if n < len(REPLIES) else SPARE

        async def pause(sent):
            if reply.get("hold") == sent:
                await consumed()
                self.reached[n].set()
                await self.released[n].wait()

        await pause("nothing")
        headers = "".join(f"{name}: {value}\r\n" for name, value in reply["headers"].items())
        head = f"HTTP/1.1 {reply['status']} Status\r\n{headers}transfer-encoding: chunked\r\nconnection: close\r\n\r\n"
        try:
            writer.write(head.encode())
            for sent, frame in enumerate(reply["frames"]):
                await pause(sent)
                data = frame.encode()
                writer.write(b"%x\r\n%s\r\n" % (len(data), data))
                await writer.drain()
            await pause(len(reply["frames"]))
            if reply["ending"] != "complete":
                await consumed()
            if reply["ending"] == "reset":
                # Without lingering, a close is a reset.
                connection = writer.get_extra_info("socket")
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            elif reply["ending"] != "eof":
                writer.write(b"0\r\n\r\n")
                await writer.drain()
        except ConnectionError:
            # The client is gone, as after a stop.
            pass
        writer.close()

    async def holds(self, number):
        await self.reached[number - 1].wait()

    def go_on(self, number):
        self.released[number - 1].set()

    def close(self):
        self.server.close()


async def consumed():
    """Waits until everything that was sent or settled has arrived: all of it is in this process, so turns of its loop are enough."""
    for _ in range(32):
        await asyncio.sleep(0)
