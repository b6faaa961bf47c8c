"""A small agent that speaks ACP: one session, tools over MCP, Anthropic's Messages without streaming.

Its bug: a turn that the user stops leaves calls without results in the history. FIXED=1 answers them.
"""
import json
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request

out = threading.Lock()
history, tools, stop = [], {}, threading.Event()
FIXED = bool(os.environ.get("FIXED"))


def send(message):
    with out:
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


class Server:
    """An MCP server on standard input and output."""

    def __init__(self, spec):
        env = {**os.environ, **{one["name"]: one["value"] for one in spec.get("env", [])}}
        command = [spec["command"], *spec.get("args", [])]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        self.number, self.answers, self.arrived = 0, {}, threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()
        client = {"name": "small-acp-agent", "version": "0.1.0"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.write({"method": "notifications/initialized"})

    def write(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            if "id" in message and "method" not in message:
                with self.arrived:
                    self.answers[message["id"]] = message
                    self.arrived.notify_all()

    def begin(self, method, params):
        self.number += 1
        self.write({"id": self.number, "method": method, "params": params})
        return self.number

    def answer(self, number):
        """The answer, or None once the turn is stopped."""
        with self.arrived:
            while number not in self.answers and not stop.is_set():
                self.arrived.wait(0.05)
            if number not in self.answers:
                self.write({"method": "notifications/cancelled", "params": {"requestId": number}})
                return None
            return self.answers.pop(number)

    def ask(self, method, params):
        return self.answer(self.begin(method, params))["result"]


def model():
    body = {"model": os.environ["ANTHROPIC_MODEL"], "max_tokens": 1000, "messages": history}
    body["tools"] = [
        {"name": f"brickbat_{name}", "description": tool["description"], "input_schema": tool["inputSchema"]}
        for name, (_, tool) in tools.items()
    ]
    headers = {"content-type": "application/json", "x-api-key": "any", "anthropic-version": "2023-06-01"}
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    got = []

    def ask():
        try:
            with urllib.request.urlopen(request) as answer:
                got.append(json.loads(answer.read()))
        except (urllib.error.URLError, OSError, ValueError) as error:
            got.append(error)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    while asking.is_alive() and not stop.is_set():
        asking.join(0.05)
    if got and isinstance(got[0], Exception):
        raise OSError(str(got[0]))
    return got[0] if got else None


def result(call, text, is_error=False):
    return {"type": "tool_result", "tool_use_id": call["id"], "content": text, "is_error": is_error}


def run(calls):
    """The results of a batch: all calls run at once."""
    def start(call):
        name = call["name"].removeprefix("brickbat_")
        return tools[name][0].begin("tools/call", {"name": name, "arguments": call["input"]})

    results = []
    for call, number in [(call, start(call)) for call in calls]:
        answer = tools[call["name"].removeprefix("brickbat_")][0].answer(number)
        if answer is None:
            if FIXED:
                results.append(result(call, "Stopped by the user.", True))
        elif "error" in answer:
            results.append(result(call, answer["error"]["message"], True))
        else:
            text = "".join(part.get("text", "") for part in answer["result"]["content"])
            results.append(result(call, text, answer["result"].get("isError", False)))
    return results


def turn(number, text):
    history.append({"role": "user", "content": [{"type": "text", "text": text}]})
    try:
        while True:
            reply = model()
            if reply is None:
                break
            history.append({"role": "assistant", "content": reply["content"]})
            calls = [block for block in reply["content"] if block["type"] == "tool_use"]
            if not calls or reply["stop_reason"] != "tool_use":
                break
            results = run(calls)
            if results:
                history.append({"role": "user", "content": results})
            if stop.is_set():
                break
    except (urllib.error.URLError, OSError, KeyError) as error:
        return send({"id": number, "error": {"code": -32000, "message": str(error)}})
    send({"id": number, "result": {"stopReason": "cancelled" if stop.is_set() else "end_turn"}})


for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params", {})
    if method == "initialize":
        info = {"name": "small-acp-agent", "version": "0.1.0"}
        send({"id": message["id"], "result": {"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": info}})
    elif method == "session/new":
        for spec in params["mcpServers"]:
            server = Server(spec)
            tools.update({tool["name"]: (server, tool) for tool in server.ask("tools/list", {})["tools"]})
        send({"id": message["id"], "result": {"sessionId": "one"}})
    elif method == "session/prompt":
        stop.clear()
        text = "".join(part.get("text", "") for part in params["prompt"])
        threading.Thread(target=turn, args=(message["id"], text), daemon=True).start()
    elif method == "session/cancel":
        stop.set()
    elif "id" in message:
        send({"id": message["id"], "error": {"code": -32601, "message": f"unknown method {method}"}})
