"""The checks of the standard interruption tests.

They read the facts of a play, and the histories that the provider received.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Callable

from brickbat.provider import Report

# A result that consists of one of these words says that its call succeeded.
SUCCESSES = ["ok", "okay", "done", "success", "successful", "succeeded", "completed", "finished", "true"]


@dataclass(eq=False)
class Run:
    """A tool that the agent ran."""

    tool: str
    arguments: Any
    call: str | None
    """The name of the call with these arguments."""
    turn: Any
    is_finished: bool = False
    """It returned."""
    is_over: bool = False
    """It returned, raised, or was cancelled."""
    is_late: bool = False
    """It ended after the stop of its turn."""


@dataclass
class Facts:
    """The facts of a play."""

    calls: list[dict[str, Any]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    raised: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    histories: list[dict[str, Any]] = field(default_factory=list)
    started_after_stop: list[Run] = field(default_factory=list)
    n_requests_after_stop: int = 0
    expects_fault: bool = False
    report: Report | None = None


def problems(expected: list[str], facts: Facts) -> list[str]:
    """The problems of a play, each as a sentence."""
    found = [*facts.refusals, *facts.raised]
    assert facts.report
    ordered = [order["exchange"] for order in facts.report.orders]
    scripted = [fault for fault in facts.report.faults if fault["exchange"] not in ordered]
    if facts.expects_fault and all(fault["receipt"] is None for fault in scripted):
        found.append("the agent never asked for the reply that the provider refuses")
    for run in facts.runs:
        if run.call is None:
            found.append(f"{run.tool} ran with {run.arguments!r}, and the model called it with no such arguments")
    sent = Sent(facts)
    if not sent.items:
        return [*found, "the last message of the user was never sent"]
    for words in expected:
        name, *calls = words.split(" ")
        found += CHECKS[name](facts, sent, calls)
    return found


class Sent:
    """The history of the last request with the user's last message."""

    def __init__(self, facts: Facts):
        last = facts.said[-1]
        self.calls = {call["as"]: call.get("args", {}).get("key") for call in facts.calls}
        self.items: list[dict[str, Any]] = []
        for history in facts.histories:
            contents = [item["content"] for item in history["items"]]
            if any(content["kind"] == "text" and last in content["text"] for content in contents):
                self.items = history["items"]

    def text(self, role: str) -> str:
        of_role = [item["content"] for item in self.items if item["role"] == role]
        return "\n".join(content["text"] for content in of_role if content["kind"] == "text")

    def result(self, name: str) -> dict[str, Any] | None:
        """The result of a call, by the id under which the agent sends the call."""
        contents = [item["content"] for item in self.items]
        for call in contents:
            if call["kind"] == "call" and isinstance(call["args"], dict) and call["args"].get("key") == self.calls[name]:
                same = (own for own in contents if own["kind"] == "result" and own["id"] == call["id"])
                return next(same, None)
        return None

    def returned(self, name: str) -> str:
        """The text that the tool of a call returns."""
        return f"found {self.calls[name]}"

    def claims(self, name: str, result: dict[str, Any]) -> bool:
        is_word = result["text"].strip().lower().strip('."!') in SUCCESSES
        return not result["is_error"] and (self.returned(name) in result["text"] or is_word)

    def keeps(self, name: str, n_runs: int) -> list[str]:
        """The problems with the result of a finished call. Its text counts wherever it is, but not as the result of another
        call."""
        returned = self.returned(name)
        holders = [item["content"] for item in self.items if returned in json.dumps(item["content"], ensure_ascii=False)]
        results = [content for content in holders if content["kind"] == "result"]
        if not holders:
            return [f"call {name} finished, but its result is not sent"]
        if len(results) > n_runs:
            return [f"the result of call {name} is sent {len(results)} times"]
        own = self.result(name)
        if results and not (own and returned in own["text"]):
            return [f"the result of call {name} is sent for another call"]
        return []


def ran(facts: Facts, sent: Sent, calls: list[str]) -> list[str]:
    done = {run.call for run in facts.runs if run.is_finished}
    return [f"call {name} was not run" for name in calls if name not in done]


def never_ran(facts: Facts, sent: Sent, calls: list[str]) -> list[str]:
    begun = {run.call for run in facts.runs}
    return [f"call {name} ran, though the model had not finished it" for name in calls if name in begun]


def run_once(facts: Facts, sent: Sent, calls: list[str]) -> list[str]:
    times = [(call["as"], sum(run.call == call["as"] for run in facts.runs)) for call in facts.calls]
    return [f"call {name} ran {n} times" for name, n in times if n > 1]


def answered(facts: Facts, sent: Sent, calls: list[str]) -> list[str]:
    return [f"call {name} has no result in the next request" for name in calls if sent.result(name) is None]


def results_kept(facts: Facts, sent: Sent, calls: list[str]) -> list[str]:
    in_time = dict.fromkeys(run.call for run in facts.runs if run.call and run.is_finished and not run.is_late)
    return [words for name in in_time for words in sent.keeps(name, sum(run.call == name for run in facts.runs))]


def not_claimed(facts: Facts, sent: Sent, calls: list[str]) -> list[str]:
    done = {run.call for run in facts.runs if run.is_finished}
    found = []
    for name in (call["as"] for call in facts.calls if call["as"] not in done):
        result = sent.result(name)
        if result and sent.claims(name, result):
            found.append(f"call {name} did not finish, but its result reads {result['text']!r}")
    return found


def texts_kept(facts: Facts, sent: Sent, calls: list[str]) -> list[str]:
    times = [(text, sent.text("assistant").count(text)) for text in facts.texts]
    return [f'the model\'s text "{text}" is sent {n} times' for text, n in times if n != 1]


def users_kept(facts: Facts, sent: Sent, calls: list[str]) -> list[str]:
    words, found, start = sent.text("user"), [], 0
    for text in facts.said:
        n, at = words.count(text), words.find(text, start)
        start = max(start, at)
        if n != 1:
            found.append(f'the user\'s message "{text}" is sent {n} times')
        elif at < 0:
            found.append(f'the user\'s message "{text}" is not in its place')
    return found


def quiet(facts: Facts, sent: Sent, calls: list[str]) -> list[str]:
    n = facts.n_requests_after_stop
    return [f"the agent sent {n} more request{'s' if n > 1 else ''} after the stop"] if n else []


def no_start_after_stop(facts: Facts, sent: Sent, calls: list[str]) -> list[str]:
    return [f"call {run.call or run.tool} started after the stop" for run in facts.started_after_stop]


CHECKS: dict[str, Callable[[Facts, Sent, list[str]], list[str]]] = {
    "ran": ran,
    "never-ran": never_ran,
    "run-once": run_once,
    "answered": answered,
    "results-kept": results_kept,
    "not-claimed": not_claimed,
    "texts-kept": texts_kept,
    "users-kept": users_kept,
    "quiet": quiet,
    "no-start-after-stop": no_start_after_stop,
}
