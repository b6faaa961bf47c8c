"""Speaks Brickbat's protocol for an adapter. It is independent of the SDK."""
import asyncio
import concurrent.futures
import contextlib
import errno
import inspect
import json
import os
import socket
import sys
import threading
import uuid
import weakref
from collections import deque
from pathlib import Path

import acp
import httpx2


# `eagerTools`: true if the SDK starts tools while the reply is still streaming. Capabilities in `about` override these.
CAPABILITIES = dict(cancel=True, streaming=True, eagerTools=False, barrier=True, history=False, load=True)

OPTIONS = [
    acp.schema.PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
    acp.schema.PermissionOption(option_id="no", name="No", kind="reject_once"),
]

# Turns of the event loop after which a byte from the socket has passed every task of the SDK, with a margin.
LOOP_TURNS = 64


class Readings:
    """Counts the bytes that each socket of this process has read, so that the harness can compare them with those that it
    has sent. It needs this where the operating system does not show the queues of sockets."""

    def __init__(self):
        self.open = weakref.WeakKeyDictionary()
        # The last sockets that were closed.
        self.closed = deque(maxlen=256)
        self.lock = threading.Lock()
        own = socket.socket
        connect, connect_ex, recv, recv_into, close = own.connect, own.connect_ex, own.recv, own.recv_into, own.close

        def counted(one, n):
            with self.lock:
                if one in self.open:
                    self.open[one] += n

        def begin(one):
            if one.family in (socket.AF_INET, socket.AF_INET6) and one.type == socket.SOCK_STREAM:
                with self.lock:
                    self.open[one] = 0

        def connected(one, address):
            begin(one)
            return connect(one, address)

        def connected_ex(one, address):
            begin(one)
            return connect_ex(one, address)

        def received(one, *args):
            data = recv(one, *args)
            counted(one, len(data))
            return data

        def received_into(one, *args, **more):
            n = recv_into(one, *args, **more)
            counted(one, n)
            return n

        def closed(one):
            reading = self.of(one)
            with self.lock:
                self.open.pop(one, None)
                self.closed.extend([reading] if reading else [])
            return close(one)

        own.connect, own.connect_ex, own.recv, own.recv_into, own.close = (
            connected, connected_ex, received, received_into, closed)

    def of(self, one):
        if one in self.open:
            with contextlib.suppress(OSError):
                return {"port": one.getsockname()[1], "to": one.getpeername()[1], "bytes": self.open[one]}
        return None

    def all(self):
        # The open ones are last, because one of them may have the port of a closed one.
        with self.lock:
            opened, closed = list(self.open), list(self.closed)
        return closed + [reading for reading in map(self.of, opened) if reading]


READINGS = Readings()


async def loop_turns():
    for _ in range(LOOP_TURNS):
        await asyncio.sleep(0)


class StoreError(Exception):
    """The store failed. This is not an error of the SDK."""


class Store:
    """The store of one session in place of your application's database: a file, created with the session."""

    def __init__(self, spec, session_id):
        self.file = Path(spec["stateDir"], f"{session_id}.json")
        # Owned by the adapter: the data of the running turn that `act` needs.
        self.running = None
        self.repairs = []

    def load(self):
        try:
            return self.file.read_bytes()
        except OSError as error:
            raise StoreError(str(error)) from error

    def repaired(self, name):
        """Reports a repair that the adapter makes in this turn in the application's place, as the documentation asks."""
        self.repairs.append(name)

    def save(self, history):
        """Keeps the history, which is bytes or text; `load` returns it as bytes."""
        if isinstance(history, str):
            history = history.encode()
        # Written atomically, as in a database: the process may be killed during the write.
        new = self.file.with_suffix(".new")
        try:
            new.write_bytes(history)
            os.replace(new, self.file)
        except OSError as error:
            raise StoreError(str(error)) from error


async def gate(given, arguments, failed=RuntimeError, stop=None):
    """Posts a tool's arguments to its gate and waits. The harness decides when and how the tool ends.

    A tool that returns an error raises `failed`. A tool that throws raises RuntimeError.
    If the SDK reports a stop without cancelling the tool's task, pass its `threading.Event`, `asyncio.Event` or future as
    `stop`. The tool then gives up and raises `failed`.
    """

    async def ask():
        async with httpx2.AsyncClient(timeout=None) as client:
            return (await client.post(given["gateUrl"], content=json.dumps(arguments))).json()

    # A deaf tool continues when the SDK cancels it.
    if given["deaf"]:
        answer = await asyncio.shield(ask())
    elif stop is None:
        answer = await ask()
    else:
        answer = await unless(stop, ask())
    if answer["kind"] == "return":
        return answer["text"]
    raise (RuntimeError if answer["kind"] == "throw" else failed)(answer["text"])


def gate_in_thread(given, arguments, failed=RuntimeError, stop=None):
    """Runs `gate` for a tool that is a plain function, which the SDK runs in its own thread."""
    return asyncio.run(gate(given, arguments, failed, stop))


# A lock for each session with delayed writes: the next write waits for the last one.
writing = {}


class StoreFailure(OSError):
    """A write of the store that fails because the harness wants it to. The SDK gets this error from its store."""


@contextlib.asynccontextmanager
async def saving(spec, entries, whole=False):
    """Wraps a write of the SDK's store. The harness decides when it begins, when the SDK continues after it, and whether it
    fails.

    `entries` is the number of entries that it adds to the thread: user messages, calls and results. The harness delays
    writes only in scenarios where something happens during a write. Yields the number of entries to keep, from the first,
    which matters only with the capability `failingWrites`; `up_to` leaves out the others. A store that keeps an entire
    write or nothing passes `whole`.
    """
    url = spec.get("savingUrl")
    if not url or not entries:
        yield entries
        return

    async def ask(**message):
        async with httpx2.AsyncClient(timeout=None) as client:
            answer = await client.post(url, json={"entries": entries, **message})
            return answer.raise_for_status().json()

    async with writing.setdefault(url, asyncio.Lock()):
        answer = await ask(side="before")
        keep = answer.get("keep", entries)
        if whole and keep < entries:
            keep = 0
        error = StoreFailure(errno.ENOSPC, answer["error"]) if "error" in answer else None
        # A store that keeps nothing and reports an error has not begun to write.
        if keep or not error:
            yield keep
        await ask(side="after", **({"kept": keep} if keep < entries else {}))
        if error:
            raise error


def up_to(items, is_entry, keep):
    """Returns the items of a write up to the last entry that the store keeps."""
    places = [place for place, item in enumerate(items) if is_entry(item)]
    return items[:places[keep] if keep else 0] if keep < len(places) else items


async def unless(stop, asking):
    """Awaits the response of a gate, unless the stop comes first."""
    asked, stopped = asyncio.ensure_future(asking), asyncio.ensure_future(stop_of(stop))
    try:
        await asyncio.wait([asked, stopped], return_when=asyncio.FIRST_COMPLETED)
        return asked.result() if asked.done() else {"kind": "error", "text": "The tool was stopped."}
    finally:
        # Closes the connection, which shows the harness that the tool gave up.
        asked.cancel()
        stopped.cancel()


# Seconds after which the thread that waits for a `threading.Event` checks if it is still needed.
LOOK_AGAIN = 0.1


async def stop_of(stop):
    """Waits for a stop in any form."""
    if isinstance(stop, asyncio.Event):
        await stop.wait()
    elif isinstance(stop, threading.Event):
        loop, heard, is_over = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

        def listen():
            while not is_over.is_set():
                if stop.wait(LOOK_AGAIN):
                    with contextlib.suppress(RuntimeError):  # The loop has been closed meanwhile.
                        loop.call_soon_threadsafe(heard.set)
                    return

        threading.Thread(target=listen, daemon=True).start()
        try:
            await heard.wait()
        finally:
            is_over.set()
    else:
        # The future belongs to the SDK, so cancelling this wait must not cancel it.
        await asyncio.wait([asyncio.wrap_future(stop) if isinstance(stop, concurrent.futures.Future) else stop])


async def stoppable(turn, stopped):
    """Awaits a turn and cancels its task when the user stops it, for an SDK without another way to stop."""
    task = asyncio.ensure_future(turn)
    stopped.add_done_callback(lambda _: task.cancel())
    return await task


async def interruptible(turn, interrupted):
    """Awaits a turn that the application can end with an exception, as `asyncio.timeout` does: the task is cancelled, and
    the exception of `interrupted` is raised."""
    task = asyncio.ensure_future(turn)
    interrupted.add_done_callback(lambda _: task.cancel())
    try:
        return await task
    except asyncio.CancelledError:
        if interrupted.done() and not interrupted.cancelled():
            interrupted.result()
        raise


# The types of a tool's arguments, by their names in its JSON Schema.
TYPES = {"string": str, "number": int | float, "boolean": bool}


def typed(run, schema, **first):
    """Gives a tool the signature that a user would write for this JSON Schema, such as `(*, key: str = None, ref: str)`,
    so that the SDK validates arguments as it does for its users. `run` takes them as `**arguments`; those that a call
    leaves out are None, or missing. `first` are parameters before them, with their types, such as the SDK's context."""
    kinds = {name: TYPES[of["type"]] for name, of in schema["properties"].items()}
    of = inspect.Parameter
    before = [of(name, of.POSITIONAL_OR_KEYWORD, annotation=kind) for name, kind in first.items()]
    own = [of(name, of.KEYWORD_ONLY, annotation=kind, default=of.empty if name in schema["required"] else None)
           for name, kind in kinds.items()]
    run.__signature__ = inspect.Signature([*before, *own])
    run.__annotations__ = {**first, **kinds}
    return run


async def maybe(result):
    """Awaits the result if it is awaitable."""
    return await result if inspect.isawaitable(result) else result


class Session:
    """A conversation; `stop` is done when the user stops the running turn."""

    def __init__(self, spec, store):
        self.spec, self.store, self.stop = spec, store, None


class Adapter:
    """Handles the requests of the harness."""

    def __init__(self, about, dialects, turn, cancelled, give, read, ready, settled, closed, act):
        self.about, self.dialects, self.turn, self.cancelled = about, dialects, turn, cancelled
        self.give, self.read, self.ready, self.settled, self.closed = give, read, ready, settled, closed
        self.act = act
        self.can = CAPABILITIES | {"history": bool(read), "givenHistory": bool(give)} | about.get("capabilities", {})
        self.sessions = {}

    def on_connect(self, client):
        self.client = client

    async def initialize(self, **_):
        about = self.about | {"protocol": 1, "capabilities": self.can}
        able = {"loadSession": self.can["load"]} | ({"sessionCapabilities": {"close": {}}} if self.closed else {})
        return {"protocolVersion": 1, "agentCapabilities": able, "_meta": {"brickbat": about}}

    async def new_session(self, brickbat=None, **_):
        session_id = uuid.uuid4().hex
        self.open(session_id, brickbat).store.save(b"")
        return {"sessionId": session_id}

    async def load_session(self, session_id, brickbat=None, **_):
        self.open(session_id, brickbat).store.load()
        return {}

    async def close_session(self, session_id, **_):
        session = self.session(session_id)
        del self.sessions[session_id]
        if session.stop and not session.stop.done():
            session.stop.set_result(None)
        if self.closed:
            await maybe(self.closed(session.spec, session.store))
        return {}

    def open(self, session_id, spec):
        if not spec or spec.get("protocol") != 1:
            raise invalid("expected _meta.brickbat with protocol 1")
        if spec["mode"] not in self.about["modes"]:
            raise invalid(f"unknown mode {spec['mode']}")
        if spec["dialect"] not in self.dialects:
            raise invalid(f"unknown dialect {spec['dialect']}")
        session = self.sessions[session_id] = Session(spec, Store(spec, session_id))
        if self.ready:
            self.ready(spec)
        return session

    async def go_over(self, session_id, dialect):
        """Loads the thread again, with the provider of another dialect and a current model of it."""
        before = self.session(session_id)
        if self.closed:
            await maybe(self.closed(before.spec, before.store))
        spec = {key: value for key, value in before.spec.items() if key != "model"}
        self.open(session_id, spec | {"dialect": dialect}).store.load()

    def session(self, session_id):
        if session_id not in self.sessions:
            raise invalid(f"unknown session {session_id}")
        return self.sessions[session_id]

    async def prompt(self, session_id, prompt, **_):
        session = self.session(session_id)
        session.stop, shown = asyncio.get_running_loop().create_future(), set()
        session.store.repairs = []

        async def show(call_id, status, title=None):
            update = acp.update_tool_call(call_id, status=status)
            if call_id not in shown:
                update = acp.start_tool_call(call_id, title or "", status=status)
            shown.add(call_id)
            await self.client.session_update(session_id, update)

        async def ask(call_id):
            """Returns the user's decision about a call, or None after a stop."""
            call = acp.schema.ToolCallUpdate(tool_call_id=call_id)
            asked = await self.client.request_permission(session_id=session_id, tool_call=call, options=OPTIONS)
            answer = asked.outcome
            return answer.option_id == "yes" if answer.outcome == "selected" else None

        outcome = {"kind": "returned"}
        text = "".join(block.text for block in prompt)
        also = [ask] if self.can.get("approvals") else []
        try:
            await self.turn(session.spec, session.store, text, session.stop, show, *also)
        except StoreError:
            raise
        except self.cancelled:
            outcome = {"kind": "cancelled"}
        except Exception as error:
            outcome = {"kind": "raised", "class": type(error).__name__, "text": str(error)}
        reason = "cancelled" if outcome["kind"] == "cancelled" else "end_turn"
        said = {"outcome": outcome} | ({"repaired": session.store.repairs} if session.store.repairs else {})
        return {"stopReason": reason, "_meta": {"brickbat": said}}

    async def ext_method(self, method, params):
        if method == "brickbat/barrier" and self.can["barrier"]:
            await loop_turns()
            while self.settled and await self.settled():
                await loop_turns()
            return {"read": READINGS.all()}
        if method == "brickbat/history" and self.read:
            session = self.session(params["sessionId"])
            return {"history": await maybe(self.read(session.spec, session.store))}
        change = params["action"].get("change", {}) if method == "brickbat/action" else {}
        if change.get("kind") == "provider" and self.can.get("changes", {}).get("provider"):
            await self.go_over(params["sessionId"], change["dialect"])
            return {}
        if method == "brickbat/action" and "tools" in params["action"] and self.can.get("changes", {}).get("tools"):
            # A running turn that reads the list for each request sees the new one.
            self.session(params["sessionId"]).spec["tools"] = params["action"]["tools"]
            return {}
        if method == "brickbat/action" and self.act:
            session = self.session(params["sessionId"])
            return await maybe(self.act(session.spec, session.store, params["action"])) or {}
        if method == "brickbat/give" and self.give:
            session_id, spec = uuid.uuid4().hex, params["session"]
            await maybe(self.give(spec, Store(spec, session_id), params["history"]))
            return {"sessionId": session_id}
        raise acp.RequestError.method_not_found(f"_{method}")

    async def cancel(self, session_id, **_):
        session = self.sessions.get(session_id)
        if session and session.stop and not session.stop.done():
            session.stop.set_result(None)


def invalid(why):
    return acp.RequestError.invalid_params({"why": why})


def serve(about, dialects, turn, cancelled, give=None, read=None, ready=None, settled=None, closed=None,
          act=None):
    """Serves the protocol until standard input ends.

    `cancelled` is the exception that the SDK raises after a stop.
    `give` writes a given history to the store, if your store supports that. `read` returns the stored history.
    `ready` runs when a session is opened. Use it for slow first-time work, such as importing a provider.
    `settled` waits for work that your SDK does outside the turn, such as writes, and returns true if there was any.
    `closed` releases the resources of an ended session, such as its connections.
    `act` runs an action of `_brickbat/action`: `{"steer": …}`, `{"inject": …}`, `{"interrupt": …}` or `{"change": …}`.
    It can return `{"changed": False}` if the SDK reports that there is nothing to change.
    """

    async def main():
        reader, writer = await acp.stdio_streams()
        # The harness has exited, so this process exits too, even if turns and threads still wait.
        reader.feed_eof = lambda: os._exit(0)
        sys.stdout = sys.stderr  # The protocol uses standard output.
        adapter = Adapter(about, dialects, turn, cancelled, give, read, ready, settled, closed, act)
        # The library lists `session/close` as unstable.
        await acp.run_agent(adapter, writer, reader, use_unstable_protocol=True)

    asyncio.run(main())
