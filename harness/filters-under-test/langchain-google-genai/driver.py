"""Runs ChatGoogleGenerativeAI's conversion of a history."""

from brickbat_filter import conversion, serve
from langchain_core.messages import convert_to_messages
from langchain_google_genai import ChatGoogleGenerativeAI

MODEL = ChatGoogleGenerativeAI(model="gemini-3-pro-preview", api_key="none")


def dumped(parts):
    return [part.model_dump(mode="json", by_alias=True, exclude_none=True) for part in parts or []]


def sent(asked):
    with conversion():
        messages = convert_to_messages(asked["request"]["messages"])
    tools = asked["request"].get("tools")
    body = MODEL._prepare_request(messages, **(MODEL.bind_tools(tools).kwargs if tools else {}))
    config = body["config"]
    written = {"model": MODEL.model, "contents": dumped(body["contents"]), "tools": dumped(config.tools)}
    if config.system_instruction:
        written["systemInstruction"] = dumped([config.system_instruction])[0]
    return {"request": written}


serve(sent)
