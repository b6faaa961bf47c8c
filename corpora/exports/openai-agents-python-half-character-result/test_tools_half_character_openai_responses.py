"""openai-agents 0.24.0: with `tools/half-character`, turn 1 raises an error

Nothing is stopped or cut off: the model's replies or the tools' results are enough to show it.
Then: UnicodeEncodeError: 'utf-8' codec can't encode character '\\ud83d' in position 1040: surrogates not allowed

Expected: The turn works: nothing goes wrong in it, and an earlier fault does not break the thread.
Fails on openai-agents 0.24.0.

Made by `brickbat export` from `tools/half-character@openai-responses` on openai-agents-python@0.24.0/session; the test itself does not need Brickbat.
"""
import asyncio
import json
import socket
import struct
# requires: openai-agents openai
from agents import Agent, FunctionTool, OpenAIResponsesModel, Runner, SQLiteSession, set_tracing_disabled
from openai import AsyncOpenAI

set_tracing_disabled(True)


class Application:
    """The SDK keeps the thread in a `SQLiteSession`."""

    def __init__(self, url, tools):
        client = AsyncOpenAI(api_key="none", base_url=url + "/v1")
        model = OpenAIResponsesModel("gpt-5", openai_client=client)
        self.agent = Agent("agent", model=model, tools=[self.tool(**tool) for tool in tools])
        self.session = SQLiteSession("thread")
        self.state = None

    def tool(self, name, description, inputSchema, run):
        async def invoke(_, text):
            try:
                return await run(**json.loads(text or "{}"))
            except ToolError as error:
                return str(error)
        return FunctionTool(name, description, inputSchema, invoke, strict_json_schema=False)

    async def turn(self, text, stopped):
        # A stopped run continues from its state, as the guide on streaming recommends.
        state, self.state = self.state, None
        if state:
            state.add_input(text)
        result = Runner.run_streamed(self.agent, state or text, session=self.session, max_turns=20)
        stopped.add_done_callback(lambda _: result.cancel(mode="after_turn"))
        async for _ in result.stream_events():
            pass
        if stopped.done():
            self.state = result.to_state()


def test_tools_half_character_openai_responses():
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
    {"status": 200, "headers": {"content-type": "text/event-stream; charset=utf-8", "x-request-id": "req_e8f37aa051aee8cd00000000"}, "ending": "complete", "frames": [
        "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_e8f37aa051aee8cd00000000\",\"object\":\"response\",\"created_at\":1790000000,\"status\":\"in_progress\",\"background\":false,\"error\":null,\"incomplete_details\":null,\"instructions\":null,\"max_output_tokens\":null,\"model\":\"gpt-5\",\"output\":[],\"parallel_tool_calls\":true,\"previous_response_id\":null,\"reasoning\":{\"effort\":null,\"summary\":null},\"service_tier\":\"default\",\"store\":true,\"temperature\":1.0,\"text\":{\"format\":{\"type\":\"text\"}},\"tool_choice\":\"auto\",\"tools\":[],\"top_p\":1.0,\"truncation\":\"disabled\",\"usage\":null,\"user\":null,\"metadata\":{}},\"sequence_number\":0}\n\n",
        "event: response.in_progress\ndata: {\"type\":\"response.in_progress\",\"response\":{\"id\":\"resp_e8f37aa051aee8cd00000000\",\"object\":\"response\",\"created_at\":1790000000,\"status\":\"in_progress\",\"background\":false,\"error\":null,\"incomplete_details\":null,\"instructions\":null,\"max_output_tokens\":null,\"model\":\"gpt-5\",\"output\":[],\"parallel_tool_calls\":true,\"previous_response_id\":null,\"reasoning\":{\"effort\":null,\"summary\":null},\"service_tier\":\"default\",\"store\":true,\"temperature\":1.0,\"text\":{\"format\":{\"type\":\"text\"}},\"tool_choice\":\"auto\",\"tools\":[],\"top_p\":1.0,\"truncation\":\"disabled\",\"usage\":null,\"user\":null,\"metadata\":{}},\"sequence_number\":1}\n\n",
        "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"id\":\"msg_e8f37aa051aee8cd0000000000\",\"type\":\"message\",\"status\":\"in_progress\",\"role\":\"assistant\",\"content\":[]},\"sequence_number\":2}\n\nevent: response.content_part.added\ndata: {\"type\":\"response.content_part.added\",\"item_id\":\"msg_e8f37aa051aee8cd0000000000\",\"output_index\":0,\"content_index\":0,\"part\":{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"\"},\"sequence_number\":3}\n\n",
        "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"msg_e8f37aa051aee8cd0000000000\",\"output_index\":0,\"content_index\":0,\"delta\":\"Let me loo\",\"logprobs\":[],\"sequence_number\":4}\n\n",
        "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"msg_e8f37aa051aee8cd0000000000\",\"output_index\":0,\"content_index\":0,\"delta\":\"k these up.\",\"logprobs\":[],\"sequence_number\":5}\n\n",
        "event: response.output_text.done\ndata: {\"type\":\"response.output_text.done\",\"item_id\":\"msg_e8f37aa051aee8cd0000000000\",\"output_index\":0,\"content_index\":0,\"text\":\"Let me look these up.\",\"logprobs\":[],\"sequence_number\":6}\n\nevent: response.content_part.done\ndata: {\"type\":\"response.content_part.done\",\"item_id\":\"msg_e8f37aa051aee8cd0000000000\",\"output_index\":0,\"content_index\":0,\"part\":{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"Let me look these up.\"},\"sequence_number\":7}\n\nevent: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"id\":\"msg_e8f37aa051aee8cd0000000000\",\"type\":\"message\",\"status\":\"completed\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"Let me look these up.\"}]},\"sequence_number\":8}\n\n",
        "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"output_index\":1,\"item\":{\"id\":\"fc_e8f37aa051aee8cd0000000001\",\"type\":\"function_call\",\"status\":\"in_progress\",\"arguments\":\"\",\"call_id\":\"call_tMpmrMWh2BuFoaQjOXhrIbbH\",\"name\":\"lookup\"},\"sequence_number\":9}\n\n",
        "event: response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"fc_e8f37aa051aee8cd0000000001\",\"output_index\":1,\"delta\":\"{\\\"key\\\":\\\"a\",\"sequence_number\":10}\n\n",
        "event: response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"fc_e8f37aa051aee8cd0000000001\",\"output_index\":1,\"delta\":\"\\\",\\\"ref\\\":\\\"\",\"sequence_number\":11}\n\n",
        "event: response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"fc_e8f37aa051aee8cd0000000001\",\"output_index\":1,\"delta\":\"a-k5dr5b\\\"}\",\"sequence_number\":12}\n\n",
        "event: response.function_call_arguments.done\ndata: {\"type\":\"response.function_call_arguments.done\",\"item_id\":\"fc_e8f37aa051aee8cd0000000001\",\"output_index\":1,\"arguments\":\"{\\\"key\\\":\\\"a\\\",\\\"ref\\\":\\\"a-k5dr5b\\\"}\",\"sequence_number\":13}\n\nevent: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"output_index\":1,\"item\":{\"id\":\"fc_e8f37aa051aee8cd0000000001\",\"type\":\"function_call\",\"status\":\"completed\",\"arguments\":\"{\\\"key\\\":\\\"a\\\",\\\"ref\\\":\\\"a-k5dr5b\\\"}\",\"call_id\":\"call_tMpmrMWh2BuFoaQjOXhrIbbH\",\"name\":\"lookup\"},\"sequence_number\":14}\n\n",
        "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"output_index\":2,\"item\":{\"id\":\"fc_e8f37aa051aee8cd0000000002\",\"type\":\"function_call\",\"status\":\"in_progress\",\"arguments\":\"\",\"call_id\":\"call_vrzJ0XtcfBp8xq9KzcsP8A5r\",\"name\":\"cut\"},\"sequence_number\":15}\n\n",
        "event: response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"fc_e8f37aa051aee8cd0000000002\",\"output_index\":2,\"delta\":\"{\\\"key\\\":\\\"b\",\"sequence_number\":16}\n\n",
        "event: response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"fc_e8f37aa051aee8cd0000000002\",\"output_index\":2,\"delta\":\"\\\",\\\"ref\\\":\\\"\",\"sequence_number\":17}\n\n",
        "event: response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"fc_e8f37aa051aee8cd0000000002\",\"output_index\":2,\"delta\":\"b-niv9zl\\\"}\",\"sequence_number\":18}\n\n",
        "event: response.function_call_arguments.done\ndata: {\"type\":\"response.function_call_arguments.done\",\"item_id\":\"fc_e8f37aa051aee8cd0000000002\",\"output_index\":2,\"arguments\":\"{\\\"key\\\":\\\"b\\\",\\\"ref\\\":\\\"b-niv9zl\\\"}\",\"sequence_number\":19}\n\nevent: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"output_index\":2,\"item\":{\"id\":\"fc_e8f37aa051aee8cd0000000002\",\"type\":\"function_call\",\"status\":\"completed\",\"arguments\":\"{\\\"key\\\":\\\"b\\\",\\\"ref\\\":\\\"b-niv9zl\\\"}\",\"call_id\":\"call_vrzJ0XtcfBp8xq9KzcsP8A5r\",\"name\":\"cut\"},\"sequence_number\":20}\n\n",
        "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"output_index\":3,\"item\":{\"id\":\"fc_e8f37aa051aee8cd0000000003\",\"type\":\"function_call\",\"status\":\"in_progress\",\"arguments\":\"\",\"call_id\":\"call_uNHFXqgrI0FRtyUfZwOQf6KV\",\"name\":\"lookup\"},\"sequence_number\":21}\n\n",
        "event: response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"fc_e8f37aa051aee8cd0000000003\",\"output_index\":3,\"delta\":\"{\\\"key\\\":\\\"c\",\"sequence_number\":22}\n\n",
        "event: response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"fc_e8f37aa051aee8cd0000000003\",\"output_index\":3,\"delta\":\"\\\",\\\"ref\\\":\\\"\",\"sequence_number\":23}\n\n",
        "event: response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"fc_e8f37aa051aee8cd0000000003\",\"output_index\":3,\"delta\":\"c-sdxaj0\\\"}\",\"sequence_number\":24}\n\n",
        "event: response.function_call_arguments.done\ndata: {\"type\":\"response.function_call_arguments.done\",\"item_id\":\"fc_e8f37aa051aee8cd0000000003\",\"output_index\":3,\"arguments\":\"{\\\"key\\\":\\\"c\\\",\\\"ref\\\":\\\"c-sdxaj0\\\"}\",\"sequence_number\":25}\n\nevent: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"output_index\":3,\"item\":{\"id\":\"fc_e8f37aa051aee8cd0000000003\",\"type\":\"function_call\",\"status\":\"completed\",\"arguments\":\"{\\\"key\\\":\\\"c\\\",\\\"ref\\\":\\\"c-sdxaj0\\\"}\",\"call_id\":\"call_uNHFXqgrI0FRtyUfZwOQf6KV\",\"name\":\"lookup\"},\"sequence_number\":26}\n\n",
        "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_e8f37aa051aee8cd00000000\",\"object\":\"response\",\"created_at\":1790000000,\"status\":\"completed\",\"background\":false,\"error\":null,\"incomplete_details\":null,\"instructions\":null,\"max_output_tokens\":null,\"model\":\"gpt-5\",\"output\":[{\"id\":\"msg_e8f37aa051aee8cd0000000000\",\"type\":\"message\",\"status\":\"completed\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"Let me look these up.\"}]},{\"id\":\"fc_e8f37aa051aee8cd0000000001\",\"type\":\"function_call\",\"status\":\"completed\",\"arguments\":\"{\\\"key\\\":\\\"a\\\",\\\"ref\\\":\\\"a-k5dr5b\\\"}\",\"call_id\":\"call_tMpmrMWh2BuFoaQjOXhrIbbH\",\"name\":\"lookup\"},{\"id\":\"fc_e8f37aa051aee8cd0000000002\",\"type\":\"function_call\",\"status\":\"completed\",\"arguments\":\"{\\\"key\\\":\\\"b\\\",\\\"ref\\\":\\\"b-niv9zl\\\"}\",\"call_id\":\"call_vrzJ0XtcfBp8xq9KzcsP8A5r\",\"name\":\"cut\"},{\"id\":\"fc_e8f37aa051aee8cd0000000003\",\"type\":\"function_call\",\"status\":\"completed\",\"arguments\":\"{\\\"key\\\":\\\"c\\\",\\\"ref\\\":\\\"c-sdxaj0\\\"}\",\"call_id\":\"call_uNHFXqgrI0FRtyUfZwOQf6KV\",\"name\":\"lookup\"}],\"parallel_tool_calls\":true,\"previous_response_id\":null,\"reasoning\":{\"effort\":null,\"summary\":null},\"service_tier\":\"default\",\"store\":true,\"temperature\":1.0,\"text\":{\"format\":{\"type\":\"text\"}},\"tool_choice\":\"auto\",\"tools\":[],\"top_p\":1.0,\"truncation\":\"disabled\",\"usage\":{\"input_tokens\":12,\"input_tokens_details\":{\"cached_tokens\":0},\"output_tokens\":42,\"output_tokens_details\":{\"reasoning_tokens\":0},\"total_tokens\":54},\"user\":null,\"metadata\":{}},\"sequence_number\":27}\n\n",
    ] },
]
# Any request after those gets a short text.
SPARE = {"status": 200, "headers": {"content-type": "text/event-stream; charset=utf-8", "x-request-id": "req_a007d363b877b52b00000000"}, "frames": ["event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_a007d363b877b52b00000000\",\"object\":\"response\",\"created_at\":1790000000,\"status\":\"in_progress\",\"background\":false,\"error\":null,\"incomplete_details\":null,\"instructions\":null,\"max_output_tokens\":null,\"model\":\"gpt-5\",\"output\":[],\"parallel_tool_calls\":true,\"previous_response_id\":null,\"reasoning\":{\"effort\":null,\"summary\":null},\"service_tier\":\"default\",\"store\":true,\"temperature\":1.0,\"text\":{\"format\":{\"type\":\"text\"}},\"tool_choice\":\"auto\",\"tools\":[],\"top_p\":1.0,\"truncation\":\"disabled\",\"usage\":null,\"user\":null,\"metadata\":{}},\"sequence_number\":0}\n\n", "event: response.in_progress\ndata: {\"type\":\"response.in_progress\",\"response\":{\"id\":\"resp_a007d363b877b52b00000000\",\"object\":\"response\",\"created_at\":1790000000,\"status\":\"in_progress\",\"background\":false,\"error\":null,\"incomplete_details\":null,\"instructions\":null,\"max_output_tokens\":null,\"model\":\"gpt-5\",\"output\":[],\"parallel_tool_calls\":true,\"previous_response_id\":null,\"reasoning\":{\"effort\":null,\"summary\":null},\"service_tier\":\"default\",\"store\":true,\"temperature\":1.0,\"text\":{\"format\":{\"type\":\"text\"}},\"tool_choice\":\"auto\",\"tools\":[],\"top_p\":1.0,\"truncation\":\"disabled\",\"usage\":null,\"user\":null,\"metadata\":{}},\"sequence_number\":1}\n\n", "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"id\":\"msg_a007d363b877b52b0000000000\",\"type\":\"message\",\"status\":\"in_progress\",\"role\":\"assistant\",\"content\":[]},\"sequence_number\":2}\n\nevent: response.content_part.added\ndata: {\"type\":\"response.content_part.added\",\"item_id\":\"msg_a007d363b877b52b0000000000\",\"output_index\":0,\"content_index\":0,\"part\":{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"\"},\"sequence_number\":3}\n\n", "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"msg_a007d363b877b52b0000000000\",\"output_index\":0,\"content_index\":0,\"delta\":\"Done.\",\"logprobs\":[],\"sequence_number\":4}\n\n", "event: response.output_text.done\ndata: {\"type\":\"response.output_text.done\",\"item_id\":\"msg_a007d363b877b52b0000000000\",\"output_index\":0,\"content_index\":0,\"text\":\"Done.\",\"logprobs\":[],\"sequence_number\":5}\n\nevent: response.content_part.done\ndata: {\"type\":\"response.content_part.done\",\"item_id\":\"msg_a007d363b877b52b0000000000\",\"output_index\":0,\"content_index\":0,\"part\":{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"Done.\"},\"sequence_number\":6}\n\nevent: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"id\":\"msg_a007d363b877b52b0000000000\",\"type\":\"message\",\"status\":\"completed\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"Done.\"}]},\"sequence_number\":7}\n\n", "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_a007d363b877b52b00000000\",\"object\":\"response\",\"created_at\":1790000000,\"status\":\"completed\",\"background\":false,\"error\":null,\"incomplete_details\":null,\"instructions\":null,\"max_output_tokens\":null,\"model\":\"gpt-5\",\"output\":[{\"id\":\"msg_a007d363b877b52b0000000000\",\"type\":\"message\",\"status\":\"completed\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"Done.\"}]}],\"parallel_tool_calls\":true,\"previous_response_id\":null,\"reasoning\":{\"effort\":null,\"summary\":null},\"service_tier\":\"default\",\"store\":true,\"temperature\":1.0,\"text\":{\"format\":{\"type\":\"text\"}},\"tool_choice\":\"auto\",\"tools\":[],\"top_p\":1.0,\"truncation\":\"disabled\",\"usage\":{\"input_tokens\":12,\"input_tokens_details\":{\"cached_tokens\":0},\"output_tokens\":42,\"output_tokens_details\":{\"reasoning_tokens\":0},\"total_tokens\":54},\"user\":null,\"metadata\":{}},\"sequence_number\":8}\n\n"], "ending": "complete"}


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
