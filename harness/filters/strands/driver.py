"""Runs Strands' processing of a history. Each input line has a request, each output line the answer."""

import json
import sys
from types import SimpleNamespace

from strands.agent.conversation_manager import SlidingWindowConversationManager, SummarizingConversationManager
from strands.session.repository_session_manager import RepositorySessionManager


class Summarizing(SummarizingConversationManager):
    """Uses a fixed summary instead of a model's, in the form that `as_user_summary` gives to a reply."""

    def _generate_summary(self, messages, agent):
        return {"role": "user", "content": [{"text": "The user asked for an order, and it was found."}]}


def window(agent, budget):
    SlidingWindowConversationManager(window_size=budget["messages"]).apply_management(agent)


def summary(agent, budget):
    Summarizing(summary_ratio=0.8, preserve_recent_messages=budget["messages"]).reduce_context(agent)


def fix(agent, _):
    agent.messages = RepositorySessionManager._fix_broken_tool_use(None, agent.messages)


FILTERS = {"window": window, "summary": summary, "fix": fix}
for line in sys.stdin:
    asked = json.loads(line)
    try:
        agent = SimpleNamespace(messages=asked["request"]["messages"])
        FILTERS[asked["mode"]](agent, asked.get("budget"))
        answer = {"request": {**asked["request"], "messages": [{"role": m["role"], "content": m["content"]} for m in agent.messages]}}
    except Exception as error:
        answer = {"error": {"kind": type(error).__name__, "message": str(error)}}
    print(json.dumps({"id": asked["id"], **answer}), flush=True)
