"""A small agent on Anthropic's Messages API, right unless a bug is planted. Its store is a file.

`Agent` runs in a thread and its tools in others; `AsyncAgent` is stopped by the cancellation of its task.
"""

import asyncio
import json
import threading
import urllib.error
import urllib.request
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

MAX_TRIES = 3
STOPPED = {"content": "The user stopped this call.", "is_error": True}


class Base:
    def __init__(self, setup, bug=None):
        self.url, self.tools, self.bug = f"{setup.base_url}/v1/messages", setup.tools, bug
        self.path = setup.store / "thread.json"
        self.is_fresh = self.path.exists()
        self.messages = json.loads(self.path.read_text()) if self.is_fresh else []
        if self.is_fresh and bug == "fresh-forgets-results":
            kept = [m for m in self.messages if isinstance(m["content"], str) or all(b["type"] == "text" for b in m["content"])]
            self.messages = kept
        if self.is_fresh and bug == "fresh-starts-over":
            self.messages = []
        self.was_stopped = False

    def save(self):
        self.path.write_text(json.dumps(self.messages))

    def body(self):
        tools = [{"name": t.name, "description": t.description, "input_schema": t.parameters} for t in self.tools]
        return {"model": "claude-sonnet-4-5", "max_tokens": 1000, "stream": True, "messages": self.messages, "tools": tools}

    def opened(self):
        headers = {"content-type": "application/json", "x-api-key": "none", "anthropic-version": "2023-06-01"}
        for tried in range(1, MAX_TRIES + 1):
            request = urllib.request.Request(self.url, json.dumps(self.body()).encode(), headers)
            try:
                return urllib.request.urlopen(request)
            except urllib.error.HTTPError as error:
                said = error.read().decode()
                if error.code < 500 and error.code != 429 or tried == MAX_TRIES:
                    raise RuntimeError(said) from None
                self.before_retry()

    def before_retry(self):
        has_results = not isinstance(self.messages[-1]["content"], str)
        if self.bug == "doubles-user-on-retry" and not has_results:
            self.messages.append(self.messages[-1])
        if self.bug == "drops-results-on-retry" and has_results:
            del self.messages[-2:]
        if self.bug == "reruns-on-retry" and has_results:
            self.run_again()

    def read(self, stream, is_stopped=lambda: False):
        """Reads a stream, also one that breaks, until it is stopped."""
        content, stop, is_whole = [], None, False
        try:
            for line in stream:
                if is_stopped() and self.bug != "asks-after-stop":
                    break
                if not line.startswith(b"data: "):
                    continue
                event = json.loads(line[6:])
                if event["type"] == "error":
                    raise OSError(event["error"]["message"])
                if event["type"] == "content_block_start":
                    content.append(dict(event["content_block"], json=""))
                elif event["type"] == "content_block_delta":
                    delta = event["delta"]
                    content[-1]["text" if "text" in delta else "json"] += delta.get("text", delta.get("partial_json"))
                elif event["type"] == "content_block_stop" and content[-1]["type"] == "tool_use":
                    self.complete(content[-1])
                elif event["type"] == "message_delta":
                    stop = event["delta"]["stop_reason"]
                is_whole = event["type"] == "message_stop"
        except Exception:
            pass  # The reply is cut.
        if not is_whole and self.bug == "drops-results-in-broken-answer":
            del self.messages[-2:]
        return content, stop, is_whole

    def complete(self, block):
        try:
            block["input"] = json.loads(block["json"] or "{}")
            block["whole"] = True
        except ValueError:
            pass

    def taken(self, reply, is_stopped):
        """Adds a reply to the thread, and returns its calls."""
        content, stop, is_whole = reply
        if not is_whole and self.bug == "drops-user-in-broken-stream":
            self.messages.pop()
        calls = [block for block in content if block["type"] == "tool_use"]
        whole = [call for call in calls if call.get("whole")]
        keeps = is_whole or self.bug in ("keeps-cut-calls", "runs-cut-replies")
        kept = [block for block in content if block["type"] == "text" or keeps and block in whole]
        kept = [block for block in kept if block.get("text") != "" or self.bug == "stores-empty-texts"]
        plain = [{name: value for name, value in block.items() if name not in ("json", "whole")} for block in kept]
        if plain:
            self.messages.append({"role": "assistant", "content": plain})
        if self.bug == "runs-cut-arguments" and len(whole) < len(calls):
            for call in calls:
                self.tool(call)(call["input"] or {"key": call["json"]})
        if is_whole or self.bug == "runs-cut-replies":
            return whole
        if is_stopped:
            return []
        raise RuntimeError("the reply was cut")

    def tool(self, call):
        for tool in self.tools:
            if tool.name == call["name"]:
                return tool.call
        raise LookupError(f"there is no tool {call['name']}")

    def answer(self, calls, done, is_stopped):
        """Adds the results of a batch. Calls without one were stopped."""
        failed = [result for result in done.values() if result.get("is_error")]
        if failed and self.bug == "throws-with-tools":
            raise RuntimeError(failed[0]["content"])
        if is_stopped and self.bug == "leaves-calls-open":
            return
        if is_stopped and self.bug == "forgets-results":
            done = {}
        other = {"content": "Done."} if self.bug == "claims-success" else STOPPED
        results = [done.get(call["id"], other) for call in calls]
        if self.bug == "swaps-results":
            results.reverse()
        blocks = [{"type": "tool_result", "tool_use_id": call["id"], **result} for call, result in zip(calls, results)]
        self.messages.append({"role": "user", "content": blocks})

    def run_again(self):
        """Runs the calls of the last reply with calls again."""
        self.is_fresh = self.was_stopped = False
        for message in reversed(self.messages):
            calls = [block for block in message["content"] if isinstance(block, dict) and block["type"] == "tool_use"]
            if calls:
                return [self.tool(call)(call["input"]) for call in calls]


class Agent(Base):
    def turn(self, text):
        if not self.was_stopped or self.bug != "stays-stopped":
            self.stopped = threading.Event()
        if self.is_fresh and self.bug == "fresh-reruns" or self.was_stopped and self.bug == "reruns-after-stop":
            self.run_again()
        self.messages.append({"role": "user", "content": text})
        try:
            while self.step():
                self.save()
        except RuntimeError:
            if self.bug == "drops-user-on-error":
                self.messages.pop()
            raise
        finally:
            self.was_stopped = self.stopped.is_set()
            if self.was_stopped and self.bug == "drops-user" and self.messages[-1]["content"] == text:
                self.messages.pop()
            last = self.messages[-1]["content"]
            if self.was_stopped and self.bug == "drops-results-before-answer" and last[0]["type"] == "tool_result":
                del self.messages[-2:]
            self.save()

    def stop(self):
        self.stopped.set()

    def step(self):
        with self.opened() as stream:
            reply = ([], None, False) if self.stopped.is_set() else self.read(stream, self.stopped.is_set)
        calls = self.taken(reply, self.stopped.is_set())
        if not calls or self.stopped.is_set() and self.bug not in ("runs-cut-replies", "asks-after-stop"):
            return False
        done = {}
        if self.bug == "starts-after-stop":
            for call in calls:
                done[call["id"]] = self.outcome(call)
        else:
            run = calls[:1] if self.bug == "runs-first-call-only" else calls
            with ThreadPoolExecutor() as pool:
                running = {pool.submit(self.outcome, call): call for call in run}
                left = set(running)
                while left:
                    over, left = wait(left, return_when=FIRST_COMPLETED)
                    # Results that come after the stop are late.
                    done.update({running[future]["id"]: future.result() for future in over if not self.stopped.is_set()})
                    if self.stopped.is_set():
                        done.update({running[future]["id"]: future.result() for future in over})
        self.answer(calls, done, self.stopped.is_set())
        return not self.stopped.is_set() or self.bug == "asks-after-stop"

    def outcome(self, call):
        try:
            return {"content": self.tool(call)(call["input"])}
        except Exception as error:
            return {"content": str(error), "is_error": True}


class AsyncAgent(Base):
    """The same, stopped by the cancellation of its task. Its requests run in threads."""

    async def turn(self, text):
        self.messages.append({"role": "user", "content": text})
        try:
            while await self.step():
                self.save()
        finally:
            self.save()

    async def step(self):
        is_cancelled = threading.Event()
        reading = asyncio.ensure_future(asyncio.to_thread(self.request, is_cancelled.is_set))
        try:
            calls = self.taken(await asyncio.shield(reading), False)
        except asyncio.CancelledError:
            is_cancelled.set()
            raise
        done = {}
        try:
            await asyncio.gather(*(self.outcome(call, done) for call in calls))
        except asyncio.CancelledError:
            self.answer(calls, done, True)
            raise
        if calls:
            self.answer(calls, done, False)
        return bool(calls)

    def request(self, is_stopped):
        with self.opened() as stream:
            return self.read(stream, is_stopped)

    async def outcome(self, call, done):
        try:
            tool = next((tool for tool in self.tools if tool.name == call["name"]), None)
            if tool is None:
                raise LookupError(f"there is no tool {call['name']}")
            done[call["id"]] = {"content": await tool.acall(call["input"])}
        except Exception as error:
            done[call["id"]] = {"content": str(error), "is_error": True}
