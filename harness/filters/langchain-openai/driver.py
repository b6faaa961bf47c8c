"""Runs ChatOpenAI's conversion of a history for the Responses API. Each input line has a history, each output line the body."""

import json
import sys

from langchain_core.messages import convert_to_messages
from langchain_openai import ChatOpenAI

MODEL = ChatOpenAI(model="gpt-5.2", use_responses_api=True, api_key="none")


def written(messages, options):
    return MODEL._get_request_payload(messages, **options)


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
