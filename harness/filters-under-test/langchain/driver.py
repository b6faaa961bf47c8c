"""Runs LangChain's processing of a history before a request."""

from brickbat_filter import serve
from langchain.agents.middleware import ClearToolUsesEdit, SummarizationMiddleware
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import RemoveMessage, convert_to_messages, convert_to_openai_messages, trim_messages

MODEL = FakeListChatModel(responses=["The user asked for an order, and it was found."])


def summarize(messages, keep):
    middleware = SummarizationMiddleware(MODEL, trigger=("messages", keep + 1), keep=("messages", keep))
    changed = middleware.before_model({"messages": messages}, None)
    return messages if changed is None else [m for m in changed["messages"] if not isinstance(m, RemoveMessage)]


def trim(messages, keep):
    # From https://docs.langchain.com/oss/python/langchain/short-term-memory.
    return trim_messages(messages, strategy="last", token_counter=len, max_tokens=keep,
                         start_on="human", end_on=("human", "tool"), include_system=True)


def clear(messages, _):
    ClearToolUsesEdit(trigger=0, keep=1, clear_tool_inputs=True).apply(messages, count_tokens=len)
    return messages


FILTERS = {"summarize": summarize, "trim": trim, "clear": clear, "read": lambda messages, _: messages}


def filtered(asked):
    messages = convert_to_messages(asked["request"]["messages"])
    if not asked.get("control"):
        messages = FILTERS[asked["mode"]](messages, asked.get("budget", {}).get("messages"))
    return {"request": {**asked["request"], "messages": convert_to_openai_messages(messages)}}


serve(filtered)
