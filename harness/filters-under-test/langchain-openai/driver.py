"""Runs ChatOpenAI's conversion of a history for the Responses API."""

from brickbat_filter import conversion, serve
from langchain_core.messages import convert_to_messages
from langchain_openai import ChatOpenAI

MODEL = ChatOpenAI(model="gpt-5.2", use_responses_api=True, api_key="none")


def sent(asked):
    with conversion():
        messages = convert_to_messages(asked["request"]["messages"])
    tools = asked["request"].get("tools")
    options = MODEL.bind_tools(tools).kwargs if tools else {}
    return {"request": MODEL._get_request_payload(messages, **options)}


serve(sent)
