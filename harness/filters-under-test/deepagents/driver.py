"""Runs the history repair of Deep Agents."""

from brickbat_filter import conversion, serve
from deepagents.middleware.patch_tool_calls import PatchToolCallsMiddleware
from langchain_core.messages import RemoveMessage, convert_to_messages, convert_to_openai_messages

MIDDLEWARE = PatchToolCallsMiddleware()


def repaired(asked):
    with conversion():
        messages = convert_to_messages(asked["request"]["messages"])
    changed = None if asked.get("control") else MIDDLEWARE.before_agent({"messages": messages}, None)
    if changed is not None:
        messages = [message for message in changed["messages"] if not isinstance(message, RemoveMessage)]
    return {"request": {**asked["request"], "messages": convert_to_openai_messages(messages)}}


serve(repaired)
