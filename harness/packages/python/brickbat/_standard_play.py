"""Runs one of the standard interruption tests on an agent."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

from brickbat_rules import BrickbatError

from brickbat._standard_checks import Facts, Run, problems
from brickbat.provider import PATIENCE, StrictProvider

# Rounds of the event loop in which a settled result reaches the agent's own code, through its tasks.
ROUNDS = 100

# The maximum length of an error in a message. The provider's own message is printed in full.
MAX_WORDS = 200

HINT = "If the agent cannot do this, name the capability in lacks"

# The number of plain replies after the turns of a test. A retry uses one up.
SPARE_REPLIES = 8


class StandardFailure(AssertionError):
    """The agent failed a test."""


@dataclass(frozen=True)
class StandardTool:
    """A tool for the agent. The test decides when it ends."""

    name: str
    description: str
    parameters: dict[str, Any]
    """The JSON Schema of the arguments."""
    _play: Play = field(repr=False)

    def call(self, arguments: dict[str, Any]) -> str:
        """Runs the tool, in the thread that the agent runs tools in."""
        return self._play.called(self, arguments)

    async def acall(self, arguments: dict[str, Any]) -> str:
        """Runs the tool in a coroutine. A cancelled coroutine ends the tool."""
        return await self._play.acalled(self, arguments)


@dataclass(frozen=True)
class Setup:
    """The surroundings of an agent."""

    base_url: str
    """The provider's base URL in the form that the vendor's SDK of the dialect takes."""
    dialect: str
    """The dialect of the class."""
    tools: list[StandardTool]
    """The tools that the agent has to offer to the model."""
    store: Path
    """An existing folder, empty for the first agent. A fresh agent gets the same one, and continues the thread."""
    provider: StrictProvider
    """The provider."""


class Turn:
    """A running turn."""

    def __init__(self) -> None:
        self.is_over = False
        self.error: BaseException | None = None
        self.task: asyncio.Task[Any] | None = None
        self.is_stopped = False
        self.n_requests = self.n_runs = 0
        """The numbers at the stop."""


class Play:
    """One run of one test."""

    def __init__(self, tests: Any, found: dict[str, Any], spec: dict[str, Any], folder: Path):
        self.tests, self.set, self.spec = tests, found, spec
        self.folder, self.store = folder, folder / "store"
        self.turns = spec.get("turns", found["turns"])
        self.tools = spec.get("tools", found["tools"])
        self.facts = Facts()
        self.provider: StrictProvider | None = None
        self.agent: Any = None
        self.armed: Any = None
        self.turn: Turn | None = None
        self.n_said = 0
        self.held: set[str] = set()
        self.deaf: set[str] = set()
        self.gates: dict[str, Future[None]] = {}
        self.changed = threading.Condition()
        self.loop: asyncio.AbstractEventLoop | None = None
        self.looping: threading.Thread | None = None

    def run(self) -> None:
        self.start()
        for step in self.spec["steps"]:
            self.step(*step.split(" "))
        for text in self.set["follow_ups"]:
            self.say(text)
            turn = self.ended()
            if turn.error:
                self.facts.raised.append(f'the turn "{text}" failed: {in_words(turn.error)}')
        self.facts.report = self.provider.report()
        self.facts.refusals = self.provider.problems()
        self.facts.histories = self.provider.histories()
        self.facts.expects_fault = any("at" in turn for turn in self.turns)
        found = problems(self.spec.get("expect", []), self.facts)
        if found:
            raise self.failure(found)

    def close(self) -> None:
        for gate in self.gates.values():
            if not gate.done():
                gate.set_result(None)
        try:
            self.close_agent()
        finally:
            if self.provider:
                self.provider.close()
            self.close_loop()

    def start(self) -> None:
        greeting, answers = self.set["greeting"], self.set["answers"]
        spare = [{"user": f"{k}", "replies": [[{"text": answers[k % len(answers)]}]]} for k in range(SPARE_REPLIES)]
        scenario = self.folder / "scenario.yaml"
        scenario.write_text(json.dumps({"schema": 1, "tools": self.tools, "turns": [greeting, *self.turns, *spare]}), "utf-8")
        self.store.mkdir()
        for reply in (reply for turn in self.turns for reply in turn["replies"]):
            for block in reply["blocks"] if isinstance(reply, dict) else reply:
                if "call" in block:
                    self.facts.calls.append(block["call"])
                elif block["text"]:
                    self.facts.texts.append(block["text"])
        self.provider = StrictProvider(scenario=str(scenario), **self.tests.provider_options)
        if self.tests.dialect not in self.provider.base_urls:
            raise TypeError(f'unknown dialect "{self.tests.dialect}"; expected {", ".join(self.provider.base_urls)}')
        self.make_agent()
        self.say(greeting["user"])
        turn = self.ended()
        if turn.error:
            raise RuntimeError("a plain turn without calls failed, so the agent cannot be judged") from turn.error
        if not self.provider.requests:
            url = self.provider.base_urls[self.tests.dialect]
            raise RuntimeError(f"a plain turn sent no request to {url}, so the agent cannot be judged")

    def make_agent(self) -> None:
        schema = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
        offered = [name for name, tool in self.tools.items() if not tool.get("missing")]
        words = "reads an order and changes nothing."
        tools = [StandardTool(name, f"{name}: {words}", schema, self) for name in offered]
        url = self.provider.base_urls[self.tests.dialect]
        self.agent = self.awaited(self.tests.make_agent(Setup(url, self.tests.dialect, tools, self.store, self.provider)))
        if not callable(getattr(self.agent, "turn", None)):
            raise TypeError("make_agent has to return an object with the method turn(text)")
        is_stopped_by_task = inspect.iscoroutinefunction(self.agent.turn)
        if "stop" not in self.tests.lacks and not is_stopped_by_task and not hasattr(self.agent, "stop"):
            raise TypeError('the agent needs the method stop(); if it has no stop, set lacks = {"stop": "the reason"}')

    def close_agent(self) -> None:
        agent, self.agent = self.agent, None
        if hasattr(agent, "close"):
            self.awaited(agent.close())

    def step(self, word: str, *rest: str) -> None:
        if word == "hold":
            self.held.update(rest)
        elif word == "deaf":
            self.deaf.update(rest)
        elif word == "arm":
            self.armed = self.provider.stop_at(" ".join(rest[1:]))
        elif word == "fault":
            self.provider.fault(rest[0], " ".join(rest[1:]))
        elif word == "say":
            self.n_said += 1
            self.say(self.turns[self.n_said - 1]["user"])
        elif word == "reached":
            self.reached()
        elif word == "started":
            self.started(rest[0])
        elif word == "settle":
            self.settle(rest[0])
        elif word == "stop":
            self.stop()
        elif word == "end":
            self.end()
        elif word == "fresh":
            self.close_agent()
            self.make_agent()
        else:
            raise RuntimeError(f"the set {self.set['set']} contains the unknown step {word}")

    def say(self, text: str) -> None:
        self.facts.said.append(text)
        turn = self.turn = Turn()
        if inspect.iscoroutinefunction(self.agent.turn):
            asyncio.run_coroutine_threadsafe(self.run_coroutine(turn, text), self.own_loop())
        else:
            threading.Thread(target=self.run_call, args=(turn, text), name="turn", daemon=True).start()

    def run_call(self, turn: Turn, text: str) -> None:
        try:
            self.awaited(self.agent.turn(text))
        except BaseException as error:
            turn.error = error
        self.tell(lambda: setattr(turn, "is_over", True))

    async def run_coroutine(self, turn: Turn, text: str) -> None:
        turn.task = asyncio.ensure_future(self.agent.turn(text))
        await asyncio.wait([turn.task])
        if turn.task.cancelled():
            turn.error = asyncio.CancelledError("the task was cancelled")
        else:
            turn.error = turn.task.exception()
        self.tell(lambda: setattr(turn, "is_over", True))

    def stop(self) -> None:
        turn = self.turn
        self.settle_down()
        turn.n_requests, turn.n_runs = self.provider.requests, len(self.facts.runs)
        turn.is_stopped = True
        if hasattr(self.agent, "stop"):
            self.awaited(self.agent.stop())
        else:
            self.own_loop().call_soon_threadsafe(turn.task.cancel)
        if self.armed:
            # A client that ignores the stop would wait for the rest of the reply.
            self.armed.release()
        self.settle_down()

    def end(self) -> None:
        # Tools that do not notice the stop finish late.
        for name in list(self.held):
            self.open(name)
        turn = self.ended()
        if turn.is_stopped:
            self.facts.n_requests_after_stop += self.provider.requests - turn.n_requests
            self.facts.started_after_stop += self.facts.runs[turn.n_runs :]

    def ended(self) -> Turn:
        turn = self.turn
        self.wait(lambda: turn.is_over, f'the turn "{self.facts.said[-1]}" did not end in {PATIENCE:g} s')
        return turn

    def reached(self) -> None:
        words = f"`{self.armed.words}`"
        seen: list[str] = []

        def wait() -> None:
            try:
                self.armed.wait()
            except BrickbatError:
                return  # The test has ended without it.
            self.tell(lambda: seen.append("reached"))

        threading.Thread(target=wait, name="reached", daemon=True).start()
        self.come(lambda: bool(seen), words)

    def started(self, name: str) -> None:
        self.come(lambda: any(run.call == name for run in self.facts.runs), f"the start of call {name}")

    def settle(self, name: str) -> None:
        self.started(name)
        self.open(name)
        is_over = lambda: any(run.call == name and run.is_over for run in self.facts.runs)  # noqa: E731
        self.wait(is_over, f"the end of call {name} did not come in {PATIENCE:g} s")
        self.settle_down()

    def open(self, name: str) -> None:
        with self.changed:
            self.held.discard(name)
            gate = self.gates.get(name)
        if gate and not gate.done():
            gate.set_result(None)

    def called(self, tool: StandardTool, arguments: dict[str, Any]) -> str:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise RuntimeError("call() would block the event loop; use `await tool.acall(arguments)`")
        run, gate = self.begun(tool, arguments)
        if gate:
            gate.result()
        return self.finished(run)

    async def acalled(self, tool: StandardTool, arguments: dict[str, Any]) -> str:
        run, gate = self.begun(tool, arguments)
        while gate and not gate.done():
            try:
                await asyncio.shield(asyncio.wrap_future(gate))
            except asyncio.CancelledError:
                if run.call in self.deaf:
                    continue
                self.tell(lambda: setattr(run, "is_over", True))
                raise
        return self.finished(run)

    def begun(self, tool: StandardTool, arguments: Any) -> tuple[Run, Future[None] | None]:
        key = arguments.get("key") if isinstance(arguments, dict) else None
        fits = (call["as"] for call in self.facts.calls if call["tool"] == tool.name and call.get("args") == {"key": key})
        run = Run(tool.name, arguments, next(fits, None), self.turn)
        with self.changed:
            gate = self.gates.setdefault(run.call, Future()) if run.call in self.held else None
            self.facts.runs.append(run)
            self.changed.notify_all()
        return run, gate

    def finished(self, run: Run) -> str:
        outcome = self.tools[run.tool]
        throws = outcome.get("throws")

        def over() -> None:
            run.is_over, run.is_finished, run.is_late = True, throws is None, run.turn.is_stopped

        self.tell(over)
        if throws is not None:
            raise RuntimeError(throws)
        return outcome["returns"].replace("{key}", str(run.arguments.get("key")))

    def tell(self, change: Callable[[], None]) -> None:
        with self.changed:
            change()
            self.changed.notify_all()

    def wait(self, is_true: Callable[[], bool], late: str) -> None:
        with self.changed:
            come = self.changed.wait_for(is_true, PATIENCE)
        if not come:
            raise self.failure([late])

    def come(self, is_true: Callable[[], bool], words: str) -> None:
        """Waits for a fact. The end of the turn is an error, because then the fact does not come."""
        turn = self.turn
        self.wait(lambda: is_true() or turn.is_over, f"{words} did not come in {PATIENCE:g} s. {HINT}")
        if not is_true():
            how = f"failed before {words}: {in_words(turn.error)}" if turn.error else f"ended before {words}. {HINT}"
            raise self.failure([f"the turn {how}", *self.provider.problems()])

    def own_loop(self) -> asyncio.AbstractEventLoop:
        if self.loop is None:
            self.loop = asyncio.new_event_loop()
            self.looping = threading.Thread(target=self.loop.run_forever, name="loop", daemon=True)
            self.looping.start()
        return self.loop

    def close_loop(self) -> None:
        """Cancels what still runs, such as the turn of a failed test."""
        loop, looping = self.loop, self.looping
        if loop is None or looping is None:
            return

        async def cancel() -> None:
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks, timeout=PATIENCE)

        asyncio.run_coroutine_threadsafe(cancel(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        looping.join()
        loop.close()

    def awaited(self, value: Any) -> Any:
        if not inspect.isawaitable(value):
            return value

        async def wait() -> Any:
            return await value

        return asyncio.run_coroutine_threadsafe(wait(), self.own_loop()).result(PATIENCE)

    def settle_down(self) -> None:
        """Lets every task that can run do so."""
        if self.loop is None:
            return

        async def rounds() -> None:
            for _ in range(ROUNDS):
                await asyncio.sleep(0)

        asyncio.run_coroutine_threadsafe(rounds(), self.loop).result(PATIENCE)

    def failure(self, found: list[str]) -> StandardFailure:
        return StandardFailure("\n".join([self.spec["proves"], *(f"- {words}" for words in found)]))


def in_words(error: BaseException | None) -> str:
    words = f"{type(error).__name__}: {error}"
    return words if len(words) <= MAX_WORDS else f"{words[:MAX_WORDS]}…"
