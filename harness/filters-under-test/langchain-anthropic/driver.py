"""Runs ChatAnthropic's conversion of a history."""

from brickbat_filter import conversion, serve
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import convert_to_messages

MODEL = ChatAnthropic(model="claude-sonnet-5", api_key="none")


def sent(asked):
    with conversion():
        messages = convert_to_messages(asked["request"]["messages"])
    tools = asked["request"].get("tools")
    options = MODEL.bind_tools(tools).kwargs if tools else {}
    return {"request": MODEL._get_request_payload(messages, **options)}


serve(sent)
