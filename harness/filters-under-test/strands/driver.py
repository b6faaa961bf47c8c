"""Runs Strands' processing of a history."""

from types import SimpleNamespace

from brickbat_filter import serve
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


def filtered(asked):
    agent = SimpleNamespace(messages=asked["request"]["messages"])
    FILTERS[asked["mode"]](agent, asked.get("budget"))
    return {"request": {**asked["request"], "messages": [{"role": m["role"], "content": m["content"]} for m in agent.messages]}}


serve(filtered)
