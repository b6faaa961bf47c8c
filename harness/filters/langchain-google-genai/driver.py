"""Runs ChatGoogleGenerativeAI's conversion of a history. Each input line has a history, each output line the request body."""

import json
import sys

from langchain_core.messages import convert_to_messages
from langchain_google_genai import ChatGoogleGenerativeAI

MODEL = ChatGoogleGenerativeAI(model="gemini-3-pro-preview", api_key="none")


def dumped(parts):
    return [part.model_dump(mode="json", by_alias=True, exclude_none=True) for part in parts or []]


def written(messages, options):
    body = MODEL._prepare_request(messages, **options)
    config = body["config"]
    contents, tools = dumped(body["contents"]), dumped(config.tools)
    instruction = dumped([config.system_instruction] if config.system_instruction else [])
    return {"model": MODEL.model, "contents": contents, "tools": tools, **({"systemInstruction": instruction[0]} if instruction else {})}


for line in sys.stdin:
    asked = json.loads(line)
    try:
        request = asked["request"]
        messages = convert_to_messages(request["messages"])
    except Exception as error:
        answer = {"unsupported": f"{type(error).__name__}: {error}"}
    else:
        try:
            options = MODEL.bind_tools(request["tools"]).kwargs if request.get("tools") else {}
            answer = {"request": written(messages, options)}
        except Exception as error:
            answer = {"error": {"kind": type(error).__name__, "message": str(error)}}
    print(json.dumps({"id": asked["id"], **answer}), flush=True)
