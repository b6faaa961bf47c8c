"""Tests `brickbat.standard` on right agents and on agents with planted bugs. Run it with `pytest -p pytester`."""

import json
import pathlib
import sys

import pytest

from brickbat import standard
from brickbat.standard import StandardFailure, StandardInterruptionTests

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

from standard_agent import Agent, AsyncAgent  # noqa: E402

# For each test, a bug that it catches.
REDS = json.loads((HERE / "standard_reds.json").read_text())
STOP = "a_stop_between_two_results_keeps_the_finished_result"


class TestAgent(StandardInterruptionTests):
    requirements = "2026-12"
    dialect = "anthropic-messages"
    bug = None

    def make_agent(self, setup):
        return Agent(setup, self.bug)


class TestAsyncAgent(TestAgent):
    def make_agent(self, setup):
        return AsyncAgent(setup, self.bug)


@pytest.mark.parametrize("name, bug", REDS.items())
def test_each_test_fails_on_an_agent_with_a_bug(name, bug):
    # The tools of the other agent finish late, so it claims nothing.
    class Planted(TestAsyncAgent if bug == "claims-success" else TestAgent):
        lacks = {"parallel": "calls run one after another"} if bug == "starts-after-stop" else {}

    Planted.bug = bug
    with pytest.raises(StandardFailure):
        Planted().run_standard_test(name)


def test_the_list_of_tests_agrees_with_the_set_and_with_the_bugs():
    found = json.loads((pathlib.Path(standard.__file__).parent / "standard" / "2026-12.json").read_text())
    names = [spec["name"] for spec in found["tests"]]
    assert names == list(REDS)
    assert {name for name in dir(TestAgent) if name.startswith("test_")} == {f"test_{name}" for name in names}


@pytest.mark.parametrize(
    "fields, words",
    [
        ({"requirements": None}, 'name the set of tests, such as requirements = "20'),
        ({"requirements": "1999-01"}, 'unknown requirements "1999-01"; this version of brickbat has 2026-12'),
        ({"dialect": None}, "name the dialect"),
        ({"lacks": {"stops": "none"}}, 'unknown capability "stops" in lacks; expected stop, store, streaming, parallel'),
        ({"lacks": {"stop": ""}}, r'lacks\["stop"\] needs a reason'),
        ({"lacks": dict.fromkeys(["stop", "store", "streaming", "parallel"], "none")}, "lacks every capability"),
        ({"expected_failures": {"nothing": "known"}}, "expected_failures names nothing, which is not in 2026-12"),
    ],
)
def test_a_class_that_cannot_be_run_is_an_error(fields, words):
    with pytest.raises(TypeError, match=words):
        type("TestOwn", (TestAgent,), fields)


def test_a_user_overrides_a_test_and_a_set_replaces_only_its_own():
    class TestOwn(TestAgent):
        def test_a_plain_turn_runs_each_call_once(self):
            """Its own."""

    class TestBelow(TestOwn):
        pass

    assert TestBelow.test_a_plain_turn_runs_each_call_once.__doc__ == "Its own."


def test_tests_are_skipped_with_the_reason_and_known_failures_are_expected(pytester):
    pytester.makepyfile(
        f"""
import sys
sys.path.insert(0, {str(HERE)!r})
from brickbat.standard import StandardInterruptionTests
from standard_agent import Agent

class Own(StandardInterruptionTests):
    requirements, dialect, bug = "2026-12", "anthropic-messages", "forgets-results"

    def make_agent(self, setup):
        return Agent(setup, self.bug)

class TestRed(Own):
    pass

class TestKnown(Own):
    expected_failures = {{"{STOP}": "issue 7"}}

class TestFixed(TestKnown):
    bug = None

class TestWithoutStop(Own):
    lacks = {{"stop": "there is no button"}}
"""
    )
    result = pytester.runpytest_subprocess("-rsx", "-k", STOP)
    result.assert_outcomes(failed=2, xfailed=1, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "After a stop between two results, the result that was there is still sent.",
            "- call a finished, but its result is not sent",
            f"*{STOP} passes; remove it from expected_failures",
            "SKIPPED*needs stop: there is no button",
            f"XFAIL*TestKnown::test_{STOP} - issue 7*",
        ]
    )


@pytest.mark.parametrize(
    "agent, words",
    [
        (object(), "has to return an object with the method turn"),
        (type("Own", (), {"turn": lambda self, text: None})(), r"needs the method stop\(\)"),
        (type("Own", (), {"turn": lambda self, text: None, "stop": print})(), "a plain turn sent no request to http"),
        (type("Own", (), {"turn": lambda self, text: 1 / 0, "stop": print})(), "a plain turn without calls failed"),
    ],
)
def test_an_agent_that_cannot_be_judged_is_an_error_and_not_a_failure(agent, words):
    class Own(TestAgent):
        def make_agent(self, setup):
            return agent

    with pytest.raises((TypeError, RuntimeError), match=words):
        Own().run_standard_test("a_plain_turn_runs_each_call_once")
