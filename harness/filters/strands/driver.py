"""Judges what Strands does with a history: one line of standard input is one request, one line of output the answer."""

import json
import sys
from types import SimpleNamespace

from strands.agent.conversation_manager import SlidingWindowConversationManager, SummarizingConversationManager
from strands.session.repository_session_manager import RepositorySessionManager


def window(messages, budget):
    agent = SimpleNamespace(messages=messages)
    SlidingWindowConversationManager(window_size=budget["messages"]).apply_management(agent)
    return agent.messages


class Summarizer(SummarizingConversationManager):
    """The summary is given instead of asked for; it is what `as_user_summary` makes of a reply."""

    def _generate_summary(self, messages, agent):
        return {"role": "user", "content": [{"text": "The user asked for an order, and it was found."}]}


def summary(messages, budget):
    agent = SimpleNamespace(messages=messages)
    Summarizer(summary_ratio=0.8, preserve_recent_messages=budget["messages"]).reduce_context(agent)
    return agent.messages


def fix(messages, budget):
    return RepositorySessionManager._fix_broken_tool_use(None, messages)


FILTERS = {"window": window, "summary": summary, "fix": fix}
for line in sys.stdin:
    asked = json.loads(line)
    try:
        messages = FILTERS[asked["mode"]](asked["request"]["messages"], asked.get("budget"))
        messages = [{"role": message["role"], "content": message["content"]} for message in messages]
        answer = {"request": {**asked["request"], "messages": messages}}
    except Exception as error:
        answer = {"error": {"kind": type(error).__name__, "message": str(error)}}
    print(json.dumps({"id": asked["id"], **answer}), flush=True)
