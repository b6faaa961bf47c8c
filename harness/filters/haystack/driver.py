"""Runs Haystack's reading and sending of a history. Each input line has a request, each output line the body."""

import json
import os
import sys

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
from haystack.dataclasses import ChatMessage
from haystack_integrations.components.generators.anthropic.chat.utils import _convert_messages_to_anthropic_format


def read(asked, messages):
    return {**asked["request"], "messages": [message.to_openai_dict_format() for message in messages]}


def anthropic(asked, messages):
    system, messages = _convert_messages_to_anthropic_format(messages)
    return {"model": asked["model"], "max_tokens": 8192, "system": system, "messages": messages}


FILTERS = {"read": read, "to-anthropic": anthropic}
for line in sys.stdin:
    asked = json.loads(line)
    try:
        messages = [ChatMessage.from_openai_dict_format(message) for message in asked["request"]["messages"]]
    except Exception as error:
        # Its documentation lists the formats that it cannot read.
        raised = {"kind": type(error).__name__, "message": str(error)}
        answer = {"error": raised} if asked["mode"] == "read" else {"unsupported": str(raised)}
    else:
        try:
            answer = {"request": FILTERS[asked["mode"]](asked, messages)}
        except Exception as error:
            answer = {"error": {"kind": type(error).__name__, "message": str(error)}}
    print(json.dumps({"id": asked["id"], **answer}), flush=True)
