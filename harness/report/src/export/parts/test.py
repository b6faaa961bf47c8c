"""{{title}}

{{about}}
"""
import asyncio
import json
import socket
import struct
{{application}}


def test_{{function}}():
    asyncio.run(asyncio.wait_for(scenario(), timeout=60))


async def scenario():
    provider = await Provider.start()
    tools = Toolbox()
    app = Application(provider.url, tools.offered)

{{story}}

    provider.close()
{{assertion}}


{{problem}}# The tools that the model may call, and its calls of them.
TOOLS = [
{{tools}}
]
CALLS = {
{{calls}}
}

# The provider's replies, request by request, byte for byte as they were recorded.
REPLIES = [
{{replies}}
]
# Any later request gets a short text.
SPARE = {{spare}}


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
