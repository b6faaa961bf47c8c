"""Runs tessera. Each input line has a history, each output line the answer."""

import json
import sys

from tessera import compact, repair

ADAPTERS = {"anthropic-messages": "anthropic", "openai-chat": "openai"}


def filtered(asked, messages, adapter):
    if asked["mode"] == "compact":
        done = compact(messages, max_tokens=asked["budget"]["tokens"], adapter=adapter)
        return done.transcript, {"size": asked["budget"]["tokens"] if done.refused else done.tokens_after}
    done = repair(messages, adapter=adapter)
    return done.transcript, {"notes": [str(change) for change in done.changes]}


for line in sys.stdin:
    asked = json.loads(line)
    try:
        messages, beside = filtered(asked, asked["request"]["messages"], ADAPTERS[asked["from"]])
        answer = {"request": {**asked["request"], "messages": messages}, **beside}
    except Exception as error:
        answer = {"error": {"kind": type(error).__name__, "message": str(error)}}
    print(json.dumps({"id": asked["id"], **answer}), flush=True)
