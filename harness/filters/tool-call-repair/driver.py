"""Runs toolrepair. Each input line has a history, each output line the answer."""

import json
import sys

from toolrepair import repair, safe_trim

FORMATS = {"anthropic-messages": "anthropic", "openai-chat": "openai"}


def filtered(asked, messages):
    form = FORMATS[asked["from"]]
    if asked["mode"] == "trim":
        return safe_trim(messages, keep=asked["budget"]["messages"], format=form)
    return repair(messages, format=form, strategy=asked["mode"])


for line in sys.stdin:
    asked = json.loads(line)
    try:
        messages = filtered(asked, asked["request"]["messages"])
        answer = {"request": {**asked["request"], "messages": messages}}
    except Exception as error:
        answer = {"error": {"kind": type(error).__name__, "message": str(error)}}
    print(json.dumps({"id": asked["id"], **answer}), flush=True)
