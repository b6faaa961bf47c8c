"""Tests the pytest plugin in separate test runs. Run it with `pytest -p pytester`, with `openai` and `brickbat` installed."""

import os
import select
import subprocess
import sys

import pytest

from brickbat import BrickbatError, StrictProvider, assert_history

# An agent that another thread can stop. It forgets the calls of a stopped reply, unless it settles them.
AGENT = """
import openai

TOOLS = [{"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}]

class Agent:
    def __init__(self, base_url, settles=False):
        self.client = openai.OpenAI(base_url=base_url, api_key="none", max_retries=0)
        self.messages, self.settles, self.is_stopped = [], settles, False

    def turn(self, text):
        self.is_stopped = False
        self.messages.append({"role": "user", "content": text})
        while not self.is_stopped and (calls := self.reply()):
            if not self.is_stopped or self.settles:
                self.messages += [{"role": "tool", "tool_call_id": call["id"], "content": "found"} for call in calls]

    def reply(self):
        text, calls = "", {}
        stream = self.client.chat.completions.create(
            model="gpt-5", messages=self.messages, tools=TOOLS, stream=True
        )
        for chunk in stream:
            for delta in chunk.choices:
                text += delta.delta.content or ""
                for call in delta.delta.tool_calls or []:
                    known = calls.setdefault(call.index, {"id": call.id, "type": "function", "function": {"name": "", "arguments": ""}})
                    known["function"]["name"] += call.function.name or ""
                    known["function"]["arguments"] += call.function.arguments or ""
        message = {"role": "assistant", "content": text}
        calls = list(calls.values())
        self.messages.append(message | ({"tool_calls": calls} if calls else {}))
        return calls

    def stop(self):
        self.is_stopped = True
"""

STOPPED = """
import threading
from agent import Agent

def scene(provider, settles):
    agent = Agent(provider.openai, settles)
    stop = provider.stop_at("after calls")
    turn = threading.Thread(target=agent.turn, args=("Look it up.",))
    turn.start()
    stop.wait()
    agent.stop()
    stop.release()
    turn.join()
    assert stop.receipt == "read"
    return agent

def test_settled(strict_provider):
    scene(strict_provider, True).turn("And now?")
"""


@pytest.fixture
def agent(pytester):
    pytester.makepyfile(agent=AGENT)
    return pytester


def test_a_brick_fails_with_the_message_of_the_provider_and_the_fixed_agent_passes(agent):
    agent.makepyfile(
        STOPPED
        + """
def test_bricked(strict_provider):
    scene(strict_provider, False).turn("And now?")
"""
    )
    result = agent.runpytest_subprocess()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*BadRequestError*",
            "the strict provider refused a request",
            "*request 1: openai-chat/tool-message-missing at /messages/1*openai-chat@*status 400*",
            "*An assistant message with 'tool_calls' must be followed by tool messages*",
        ]
    )


def test_a_refusal_that_the_agent_hides_fails_the_test_unless_it_is_allowed(agent):
    agent.makepyfile(
        STOPPED
        + """
import openai, pytest

def hidden(provider):
    agent = scene(provider, False)
    try:
        agent.turn("And now?")
    except openai.BadRequestError:
        pass

def test_bricked(strict_provider):
    hidden(strict_provider)

@pytest.mark.strict_provider(allow_refusals=True)
def test_allowed(strict_provider):
    hidden(strict_provider)
    refusal, = strict_provider.refusals
    assert refusal.rule == "openai-chat/tool-message-missing"
    assert refusal.pointer.startswith("/messages/1")

@pytest.mark.xfail(strict=True)
def test_known(strict_provider):
    hidden(strict_provider)
"""
    )
    result = agent.runpytest_subprocess()
    result.assert_outcomes(passed=2, failed=1, xfailed=1)
    result.stdout.fnmatch_lines(["*test_bricked*", "the strict provider refused a request"])


def test_an_unused_provider_or_an_unreached_point_fails_the_test(agent):
    agent.makepyfile(
        """
import pytest, urllib.error, urllib.request
from agent import Agent

def test_unused(strict_provider):
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(strict_provider.url + "/v2/nowhere")

@pytest.mark.strict_provider(allow_unused=True)
def test_allowed(strict_provider):
    pass

def test_unreached(strict_provider):
    strict_provider.stop_at("after end a of reply 7")
    Agent(strict_provider.openai).turn("Look it up.")

def test_no_point(strict_provider):
    with pytest.raises(ValueError, match="no point of a reply"):
        strict_provider.stop_at("after lunch")
    Agent(strict_provider.openai).turn("Look it up.")

def test_followed(strict_provider):
    agent = Agent(strict_provider.openai)
    fault = strict_provider.fault("rate-limit")
    with pytest.raises(Exception, match="429"):
        agent.turn("Look it up.")
    agent.turn("Once more.")
    assert fault.receipt and fault.followed_by == "accepted"
    assert strict_provider.report().state["faults"]["then_accepted"] == 1

@pytest.mark.strict_provider(hots="api.x.ai")
def test_misspelt(strict_provider):
    pass
"""
    )
    result = agent.runpytest_subprocess()
    result.assert_outcomes(passed=3, failed=2, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*no request came to the strict provider at http://127.0.0.1:*: nothing was judged",
            "*GET /v2/nowhere: nothing answers there",
            "*`stop after end a of reply 7` did not happen; *",
        ]
    )


def test_the_environment_points_at_the_provider(agent, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-real")
    agent.makepyfile(
        """
import openai, os

def test_environment(strict_provider, monkeypatch):
    strict_provider.set_environment(monkeypatch)
    client = openai.OpenAI()
    assert client.api_key == "sk-brickbat"
    client.chat.completions.create(model="gpt-5", messages=[{"role": "user", "content": "Hello."}])

def test_afterwards():
    assert os.environ["OPENAI_API_KEY"] == "sk-real"
"""
    )
    agent.runpytest_subprocess().assert_outcomes(passed=2)


def test_histories_are_judged_with_the_messages_of_sdks():
    from openai.types.chat import ChatCompletionMessage

    call = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    asked = ChatCompletionMessage.model_validate({"role": "assistant", "content": None, "tool_calls": [call]})
    user, result = {"role": "user", "content": "Go on."}, {"role": "tool", "tool_call_id": "call_1", "content": "found"}
    assert_history([user, asked, result, user])
    with pytest.raises(AssertionError, match="openai-chat/tool-message-missing"):
        assert_history([user, asked, user])
    with pytest.raises(AssertionError, match="deepseek"):
        assert_history([user, asked, user], host="api.deepseek.com")
    with pytest.raises(ValueError, match="cannot be judged"):
        assert_history([user], dialect="klingon")
    with pytest.raises(TypeError, match="object"):
        assert_history([object()])


def test_a_closed_provider_raises():
    with pytest.raises(BrickbatError, match="not known how strict"):
        StrictProvider(host="llm.example.org")
    provider = StrictProvider()
    stop = provider.stop_at("after calls")
    provider.close()
    with pytest.raises(BrickbatError, match="has exited"):
        stop.wait()
    with pytest.raises(BrickbatError, match="has exited"):
        provider.report()


def test_a_runner_that_is_killed_leaves_no_provider():
    script = "import brickbat, time; p = brickbat.StrictProvider(); print(p._process.pid, flush=True); time.sleep(1000)"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, encoding="utf-8") as runner:
        pid = int(runner.stdout.readline())
        runner.kill()
    try:
        ended = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    # Readable once the process has exited.
    assert select.select([ended], [], [], 60)[0]
