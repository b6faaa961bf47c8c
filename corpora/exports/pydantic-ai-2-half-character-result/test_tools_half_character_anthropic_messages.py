"""pydantic-ai-slim 2.68.0: with `tools/half-character`, turn 1 raises an error

Nothing is stopped or cut off: the model's replies or the tools' results are enough to show it.
Then: PydanticSerializationError: Error serializing to JSON: UnicodeEncodeError: 'utf-8' codec can't encode character '\\ud83d' in position 9: surrogates not allowed

Expected: The turn works: nothing goes wrong in it, and an earlier fault does not break the thread.
Fails on pydantic-ai-slim 2.68.0.

Made by `brickbat export` from `tools/half-character@anthropic-messages` on pydantic-ai@2.68.0/run; the test itself does not need Brickbat.
"""
import asyncio
import json
import socket
import struct
# requires: pydantic-ai-slim[anthropic,google,openai]
import pydantic_ai
from pydantic_ai import Agent, Tool
from pydantic_ai.models import infer_model
from pydantic_ai.providers import infer_provider_class


class Application:
    """The captured messages of each run are stored, even after an error, and are the history of the next one."""

    def __init__(self, url, tools):
        def provider(kind):
            return infer_provider_class(kind)(api_key="none", base_url=url)

        model = infer_model("anthropic:claude-haiku-4-5", provider)
        self.agent = Agent(model, tools=[self.tool(**tool) for tool in tools])
        self.messages = []

    def tool(self, name, description, inputSchema, run):
        async def tool(**arguments):
            try:
                return await run(**arguments)
            except ToolError as error:
                raise pydantic_ai.ToolFailed(str(error)) from error
        return Tool.from_schema(tool, name, description, inputSchema)

    async def turn(self, text, stopped):
        token = pydantic_ai.CancellationToken()
        stopped.add_done_callback(lambda _: token.cancel())
        how = {"cancellation_token": token}

        async def watch(_, events):
            async for _ in events:
                pass

        with pydantic_ai.capture_run_messages() as messages:
            try:
                await self.agent.run(text, message_history=self.messages, event_stream_handler=watch, **how)
            finally:
                self.messages = max(list(messages), self.messages, key=len)


def test_tools_half_character_anthropic_messages():
    asyncio.run(asyncio.wait_for(scenario(), timeout=60))


async def scenario():
    provider = await Provider.start()
    tools = Toolbox()
    app = Application(provider.url, tools.offered)

    # Turn 1.
    turn_1 = Turn(app, "Look up the three orders.")
    await turn_1.until(tools.started("a"))
    await tools.settle("a")
    await turn_1.until(tools.started("b"))
    await tools.settle("b")
    await turn_1.until(tools.started("c"))
    await tools.settle("c")
    error = await turn_1.ended()

    provider.close()
    assert error is None, repr(error)


# The tools that the model may call, and the calls that it makes of them.
TOOLS = [
    {"name": "cut", "description": "The tool `cut` of the test.", "inputSchema": {"type": "object", "properties": {"key": {"type": "string"}, "ref": {"type": "string"}}, "required": ["ref"], "additionalProperties": False}},
    {"name": "lookup", "description": "The tool `lookup` of the test.", "inputSchema": {"type": "object", "properties": {"key": {"type": "string"}, "ref": {"type": "string"}}, "required": ["ref"], "additionalProperties": False}},
]
CALLS = {
    "a": {"ref":"a-k5dr5b","kind":"return","text":"found a [a-k5dr5b]"},
    "b": {"ref":"b-niv9zl","kind":"return","text":"found b: \ud83d [b-niv9zl]"},
    "c": {"ref":"c-sdxaj0","kind":"return","text":"found c [c-sdxaj0]"},
}

# What the provider says, request by request, byte for byte as it was recorded.
REPLIES = [
    {"status": 200, "headers": {"content-type": "text/event-stream; charset=utf-8", "request-id": "req_c23880a75510c14500000000"}, "ending": "complete", "frames": [
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_01c23880a75510c14500000000\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-haiku-4-5\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":12,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":1}}}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
        "event: ping\ndata: {\"type\": \"ping\"}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Let me loo\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"k these up.\"}}\n\n",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_01sct1KaD5grpe3SUiRP2XGo\",\"name\":\"lookup\",\"input\":{}}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"key\\\":\\\"a\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\\\",\\\"ref\\\":\\\"\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"a-k5dr5b\\\"}\"}}\n\n",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_01vSGt4M3fePTnhayTdDjFlT\",\"name\":\"cut\",\"input\":{}}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"key\\\":\\\"b\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\\\",\\\"ref\\\":\\\"\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"b-niv9zl\\\"}\"}}\n\n",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":2}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":3,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_01DffkNbUDXThTGysypbMqnz\",\"name\":\"lookup\",\"input\":{}}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"key\\\":\\\"c\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\\\",\\\"ref\\\":\\\"\"}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"c-sdxaj0\\\"}\"}}\n\n",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":3}\n\n",
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\",\"stop_sequence\":null},\"usage\":{\"input_tokens\":12,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":42}}\n\n",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    ] },
]
# Any request after those gets a short text.
SPARE = {"status": 200, "headers": {"content-type": "text/event-stream; charset=utf-8", "request-id": "req_8e7fd82b89935b6300000000"}, "frames": ["event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_018e7fd82b89935b6300000000\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-haiku-4-5\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":12,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":1}}}\n\n", "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n", "event: ping\ndata: {\"type\": \"ping\"}\n\n", "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Done.\"}}\n\n", "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n", "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"input_tokens\":12,\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":0,\"output_tokens\":42}}\n\n", "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"], "ending": "complete"}


class ToolError(Exception):
    """A tool that answers with an error."""


class ToolBroken(Exception):
    """A tool that throws."""


class Turn:
    """A turn that runs. `until` waits for a fact, and fails if the turn is over before it."""

    def __init__(self, app, text):
        self.text = text
        self.stopped = asyncio.get_running_loop().create_future()
        self.task = asyncio.create_task(app.turn(text, self.stopped))

    def stop(self):
        self.stopped.set_result(None)

    async def ended(self):
        """What the turn raised, if it did."""
        await asyncio.wait([self.task])
        return asyncio.CancelledError() if self.task.cancelled() else self.task.exception()

    async def until(self, *facts):
        reached = asyncio.gather(*facts)
        await asyncio.wait([reached, self.task], return_when=asyncio.FIRST_COMPLETED)
        if not reached.done():
            reached.cancel()
            raise RuntimeError(f"the turn {self.text!r} ended too early") from await self.ended()


class Toolbox:
    """Tools whose calls end when the test says so. A call is known by its argument `ref`."""

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
    """Says what was recorded. It holds a reply where the recording says so, until the test lets it go on."""

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
                # Without lingering, closing is a reset.
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
    """Lets whatever has been sent or settled arrive: all of it is in this process, so turns of its loop are enough."""
    for _ in range(32):
        await asyncio.sleep(0)
