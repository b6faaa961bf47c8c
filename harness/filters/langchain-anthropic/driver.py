"""Runs ChatAnthropic's conversion of a history. Each input line has a history, each output line the request body."""

import json
import sys

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import convert_to_messages

MODEL = ChatAnthropic(model="claude-sonnet-5", api_key="none")


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
