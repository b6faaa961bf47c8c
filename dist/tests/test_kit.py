"""Tests the Python adapter kit: a stop in any form closes the gate of a tool, and the tool fails."""

import asyncio
import concurrent.futures
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from brickbat_adapter import Adapter, gate, gate_in_thread


class Failed(Exception):
    pass


class Gate(BaseHTTPRequestHandler):
    """A gate that responds at once to `open` and never to other requests."""

    def do_POST(self):
        arguments = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.set()
        if arguments == "open":
            body = json.dumps({"kind": "return", "text": "found"}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        elif not self.rfile.read(1):
            self.server.closed.set()

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Gate) as server:
        server.asked, server.closed = threading.Event(), threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def given(server, deaf=False):
    return {"gateUrl": f"http://127.0.0.1:{server.server_port}/", "deaf": deaf}


STOPS = {
    "event of a thread": (threading.Event, lambda stop: stop.set()),
    "event of a loop": (asyncio.Event, lambda stop: stop.set()),
    "future of a loop": (lambda: asyncio.get_running_loop().create_future(), lambda stop: stop.set_result(None)),
    "future of a thread": (concurrent.futures.Future, lambda stop: stop.set_result(None)),
}


@pytest.mark.parametrize("kind", STOPS)
def test_a_stop_in_any_form_closes_the_gate(server, kind):
    make, end = STOPS[kind]

    async def scene():
        stop = make()
        assert await gate(given(server), "open", Failed, stop) == "found"
        server.asked.clear()
        tool = asyncio.ensure_future(gate(given(server), "closed", Failed, stop))
        await asyncio.to_thread(server.asked.wait, 60)
        end(stop)
        with pytest.raises(Failed, match="stopped"):
            await tool

    asyncio.run(scene())
    assert server.closed.wait(60)


def test_a_tool_in_a_thread_is_stopped(server):
    stop = threading.Event()
    assert gate_in_thread(given(server), "open", Failed, stop) == "found"
    server.asked.clear()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        tool = pool.submit(gate_in_thread, given(server), "closed", Failed, stop)
        assert server.asked.wait(60)
        stop.set()
        with pytest.raises(Failed, match="stopped"):
            tool.result(60)
    assert server.closed.wait(60)


def test_a_closed_session_is_released(tmp_path):
    about = {"sdk": "mine", "version": "1.0.0", "modes": ["messages"]}
    spec = {"protocol": 1, "mode": "messages", "dialect": "openai-chat", "stateDir": str(tmp_path)}
    over = []

    async def scene(closed):
        adapter = Adapter(about, ["openai-chat"], None, (), None, None, None, None, closed)
        able = (await adapter.initialize())["agentCapabilities"]
        session_id = (await adapter.new_session(brickbat=spec))["sessionId"]
        await adapter.close_session(session_id)
        with pytest.raises(Exception, match="Invalid params"):
            await adapter.close_session(session_id)
        return able

    assert "sessionCapabilities" not in asyncio.run(scene(None))
    able = asyncio.run(scene(lambda spec, store: over.append((spec["mode"], store.load()))))
    assert able["sessionCapabilities"] == {"close": {}}
    assert over == [("messages", b"")]
