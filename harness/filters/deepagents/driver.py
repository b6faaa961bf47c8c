"""Runs the history repair of Deep Agents. Each input line has a request, each output line the answer."""

import json
import sys

from deepagents.middleware.patch_tool_calls import PatchToolCallsMiddleware
from langchain_core.messages import RemoveMessage, convert_to_messages, convert_to_openai_messages

MIDDLEWARE = PatchToolCallsMiddleware()

for line in sys.stdin:
    asked = json.loads(line)
    try:
        messages = convert_to_messages(asked["request"]["messages"])
    except Exception as error:
        answer = {"unsupported": f"{type(error).__name__}: {error}"}
    else:
        try:
            changed = None if asked.get("control") else MIDDLEWARE.before_agent({"messages": messages}, None)
            if changed is not None:
                messages = [message for message in changed["messages"] if not isinstance(message, RemoveMessage)]
            answer = {"request": {**asked["request"], "messages": convert_to_openai_messages(messages)}}
        except Exception as error:
            answer = {"error": {"kind": type(error).__name__, "message": str(error)}}
    print(json.dumps({"id": asked["id"], **answer}), flush=True)
