"""Runs ChatMistralAI's conversion of a history."""

from brickbat_filter import conversion, serve
from langchain_core.messages import convert_to_messages
from langchain_mistralai import ChatMistralAI

MODEL = ChatMistralAI(model="mistral-large-latest", api_key="none")


def sent(asked):
    with conversion():
        messages = convert_to_messages(asked["request"]["messages"])
    tools = asked["request"].get("tools")
    options = MODEL.bind_tools(tools).kwargs if tools else {}
    dicts, parameters = MODEL._create_message_dicts(messages, None)
    return {"request": {**parameters, **options, "messages": dicts}}


serve(sent)
