"""Runs ChatMistralAI's conversion of a history. Each input line has a history, each output line the request body."""

import json
import sys

from langchain_core.messages import convert_to_messages
from langchain_mistralai import ChatMistralAI

MODEL = ChatMistralAI(model="mistral-large-latest", api_key="none")


def written(messages, options):
    dicts, parameters = MODEL._create_message_dicts(messages, None)
    return {**parameters, **options, "messages": dicts}


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
