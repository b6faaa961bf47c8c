"""A strict provider on a free local port, for a test: `brickbat serve`, controlled by JSON lines.

It ends with this process, however that ends: its standard input is then closed.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import tempfile
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, field
from typing import Any, Iterable

from brickbat_rules import BrickbatError

from brickbat._binary import binary

# Seconds to wait for events that normally take far less. Not used for measurements.
PATIENCE = 30.0


@dataclass(frozen=True)
class Refusal:
    """A rejected request."""

    exchange: int
    """The number of the request, from 0."""
    rule: str
    """The rule that it broke. `brickbat explain RULE` describes it."""
    pointer: str
    """The place in the body, as a JSON pointer."""
    message: str
    """The provider's error message."""
    profile: str
    """The profile whose rules judged it, with its date."""
    status: int
    """The HTTP status."""
    shape: str
    """The history of the request in one line."""

    def __str__(self) -> str:
        head = f"request {self.exchange}: {self.rule} at {self.pointer or 'the body'}"
        return f"{head} ({self.profile}, status {self.status})\n    {self.message}\n    {self.shape}"


@dataclass(frozen=True)
class Report:
    """The events so far."""

    requests: int
    """The number of requests for a reply."""
    refused: int
    """The number of rejected requests."""
    exchanges: list[dict[str, Any]]
    """The last thousand requests, without their content."""
    faults: list[dict[str, Any]]
    """The faults injected into replies, each with its receipt and the outcome of the next request."""
    orders: list[dict[str, Any]]
    """The armed stops and faults, in order. Those without a receipt did not happen."""
    state: dict[str, Any] = field(repr=False)
    """The counts of `/_brickbat/state`."""


class Armed:
    """A stop or a fault at a point of a reply."""

    def __init__(self, provider: StrictProvider, number: int, words: str):
        self._provider, self._number, self.words = provider, number, words
        self._reached: Future[None] = Future()

    def __repr__(self) -> str:
        return f"<{self.words}>"

    def wait(self, timeout: float = PATIENCE) -> None:
        """Waits until the point of a stop is reached. The reply then pauses there."""
        try:
            self._reached.result(timeout)
        except NotYet:
            raise self._late(timeout) from None

    async def reached(self, timeout: float = PATIENCE) -> None:
        """Waits like `reached`, in a coroutine."""
        # Shielded, so that a timeout here does not cancel the wait for the point.
        waiting = asyncio.shield(asyncio.wrap_future(self._reached))
        try:
            await asyncio.wait_for(waiting, timeout)
        except asyncio.TimeoutError:
            raise self._late(timeout) from None

    def release(self) -> None:
        """Resumes a paused reply. Not needed if the client has disconnected."""
        self._provider._ask({"order": "release", "armed": self._number})

    @property
    def receipt(self) -> str | None:
        """The proof that it happened: `read` if the client had read everything sent before it."""
        return self._provider.report().orders[self._number]["receipt"]

    @property
    def followed_by(self) -> Any:
        """The outcome of the next request in that dialect: `accepted`, or the rule that it broke."""
        return self._provider.report().orders[self._number]["then"]

    def _late(self, timeout: float) -> BrickbatError:
        return BrickbatError(f"`{self.words}` was not reached in {timeout:g} s; {UNREACHED}")


UNREACHED = (
    "replies to requests that offer tools are counted, a reply calls two or three tools, and one that is not streamed "
    "has only its headers"
)


class StrictProvider:
    """A strict provider.

    It rejects the requests that a real provider rejects, with the same messages, and improvises replies to all others: it
    calls two or three of the offered tools at once, and answers when the results have arrived.

    `profile`, `host` and `model` select the rules. `scenario` is a file with the replies. `seed`, `rounds` and `usage` shape
    improvised replies. `faults` (true, or kinds of faults) injects a fault into every Nth reply, where N is `every`. `stall`
    is the number of seconds that a stalled reply is silent. `brickbat serve --help` describes each option.

    `check` fails if a request was rejected (unless `allow_refusals`), if no request arrived (unless `allow_unused`), and if
    an armed point was never reached.
    """

    def __init__(
        self,
        *,
        profile: str | None = None,
        host: str | None = None,
        model: str | None = None,
        scenario: str | None = None,
        seed: int | None = None,
        rounds: int | None = None,
        usage: int | None = None,
        faults: bool | str | Iterable[str] = False,
        every: int | None = None,
        stall: int | None = None,
        allow_refusals: bool = False,
        allow_unused: bool = False,
    ):
        self.allow_refusals, self.allow_unused = allow_refusals, allow_unused
        options = {"profile": profile, "host": host, "model": model, "scenario": scenario, "seed": seed}
        options |= {"rounds": rounds, "usage": usage, "every": every}
        options["stall"] = None if stall is None else f"{stall}s"
        words = [f"--{name}={value}" for name, value in options.items() if value is not None]
        if faults:
            kinds = [] if faults is True else [faults] if isinstance(faults, str) else list(faults)
            words.append(f"--faults={','.join(kinds)}" if kinds else "--faults")
        self._refusals: list[Refusal] = []
        self._unread: list[str] = []
        self._armed: dict[int, Armed] = {}
        self._reached: set[int] = set()
        self._asked: dict[int, Future[dict[str, Any]]] = {}
        self._is_over = False
        self._lock = threading.Lock()
        self._ready: Future[dict[str, Any]] = Future()
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [binary(), "serve", "--port=0", "--control", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            encoding="utf-8",
        )
        threading.Thread(target=self._listen, name="brickbat", daemon=True).start()
        try:
            ready = self._ready.result(PATIENCE)
        except BaseException:
            self.close()
            raise
        self.url: str = ready["url"]
        """The URL that serves all dialects, without a trailing slash."""
        self.base_urls: dict[str, str] = ready["base_urls"]
        """The base URL of each dialect in the form that its vendor's SDK takes."""
        self.variables: dict[str, str] = ready["variables"]
        """The environment variables that point programs at the provider, with made-up keys."""
        self.without: list[str] = ready["without"]
        """Environment variables that would make a program bypass the provider."""

    @property
    def anthropic(self) -> str:
        """`base_url` of the package `anthropic`."""
        return self.base_urls["anthropic-messages"]

    @property
    def openai(self) -> str:
        """`base_url` of the package `openai`, for Chat Completions and Responses."""
        return self.base_urls["openai-chat"]

    @property
    def gemini(self) -> str:
        """`base_url` in the HTTP options of the package `google-genai`."""
        return self.base_urls["gemini"]

    @property
    def bedrock(self) -> str:
        """`endpoint_url` of Bedrock's client in `boto3`."""
        return self.base_urls["bedrock-converse"]

    @property
    def mistral(self) -> str:
        """`server_url` of the package `mistralai`."""
        return self.base_urls["mistral"]

    def set_environment(self, monkeypatch: Any) -> None:
        """Points every known SDK and program at the provider until the end of the test, using pytest's `monkeypatch`."""
        for name in self.without:
            monkeypatch.delenv(name, raising=False)
        for name, value in self.variables.items():
            monkeypatch.setenv(name, value)

    def stop_at(self, at: str) -> Armed:
        """Pauses a reply at a point, such as `after calls` or `after end a of reply 2`, so that you can stop the agent there.

        Replies are counted from this call on.
        """
        return self._arm("stop", at)

    def fault(self, kind: str, at: str | None = None) -> Armed:
        """Injects a fault at a point of a reply (`eof`, `reset`, `end-early`, `error`, `stall`) or in its place
        (`overloaded`, `rate-limit`)."""
        return self._arm(kind, at)

    def report(self) -> Report:
        """The events so far."""
        told = self._ask({"order": "report"})
        return Report(**{name: told[name] for name in Report.__dataclass_fields__})

    @property
    def refusals(self) -> list[Refusal]:
        """The first thousand rejected requests."""
        # Rejections are reported before the response to a later report request.
        self.report()
        return list(self._refusals)

    def histories(self) -> list[dict[str, Any]]:
        """The histories of the last hundred requests, also of rejected ones, in one form for all dialects.

        Each has the number of its `exchange`, and `items`: the blocks with their `pointer`, `message`, `role` and `content`.
        A content has a `kind`: `text` (`text`), `call` (`id`, `name`, `args`), `result` (`id`, `text`, `is_error`), `thought` or
        `raw` (`value`).
        """
        return self._ask({"order": "histories"})["histories"]

    @property
    def requests(self) -> int:
        """The number of requests for a reply."""
        return self.report().requests

    def problems(self) -> list[str]:
        """The messages of the error that `check` raises."""
        report = self.report()
        found = []
        if report.refused and not self.allow_refusals:
            times = "a request" if report.refused == 1 else f"{report.refused} requests"
            told = [f"  {refusal}" for refusal in self._refusals]
            found.append("\n".join([f"the strict provider refused {times}", *told]))
        if not report.requests and not self.allow_unused:
            told = "".join(f"\n  {words}" for words in self._unread)
            found.append(f"no request came to the strict provider at {self.url}: nothing was judged{told}")
        for order in report.orders:
            if order["receipt"] is None:
                found.append(f"`{order['words']}` did not happen; {UNREACHED}")
        return found

    def check(self) -> None:
        """Fails if a request was rejected, no request arrived, or an armed point was never reached."""
        problems = self.problems()
        if problems:
            raise AssertionError("\n".join(problems))

    def close(self) -> None:
        """Ends the provider."""
        if self._process.stdin:
            try:
                self._process.stdin.close()
            except BrokenPipeError:
                pass  # It has already exited.
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> StrictProvider:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if kind is None:
                self.check()
        finally:
            self.close()

    def _arm(self, what: str, at: str | None) -> Armed:
        answer = self._ask({"order": "arm", "what": what} | ({} if at is None else {"at": at}))
        armed = Armed(self, answer["armed"], f"{what} {at}" if at else what)
        with self._lock:
            self._armed[answer["armed"]] = armed
            is_reached = answer["armed"] in self._reached
            if self._is_over:
                armed._reached.set_exception(self._gone())
        if is_reached:
            armed._reached.set_result(None)
        return armed

    def _ask(self, order: dict[str, Any]) -> dict[str, Any]:
        answer: Future[dict[str, Any]] = Future()
        with self._lock:
            if self._is_over:
                raise self._gone()
            number = len(self._asked)
            self._asked[number] = answer
            assert self._process.stdin
            try:
                self._process.stdin.write(json.dumps(order | {"id": number}) + "\n")
                self._process.stdin.flush()
            except (BrokenPipeError, ValueError):
                raise self._gone() from None
        told = answer.result(PATIENCE)
        if "error" in told:
            raise ValueError(told["error"])
        return told

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._hear(json.loads(line))
        self._process.wait()
        gone = self._gone()
        with self._lock:
            self._is_over = True
            waiting = [self._ready, *self._asked.values(), *(armed._reached for armed in self._armed.values())]
        for future in waiting:
            if not future.done():
                future.set_exception(gone)

    def _hear(self, told: dict[str, Any]) -> None:
        said = told.pop("said")
        if said == "ready":
            self._ready.set_result(told)
        elif said == "answer" and told["id"] is not None:
            self._asked[told.pop("id")].set_result(told)
        elif said == "refused":
            self._refusals.append(Refusal(**told))
        elif said == "unread":
            self._unread.append(told["words"])
        elif said == "reached":
            with self._lock:
                self._reached.add(told["armed"])
                armed = self._armed.get(told["armed"])
            if armed:
                armed._reached.set_result(None)

    def _gone(self) -> BrickbatError:
        self._errors.seek(0)
        said = self._errors.read().decode("utf-8", "replace").strip()
        return BrickbatError(f"the strict provider has exited{': ' + said if said else ''}")
