"""Asks one filter: a JSON line in, a JSON line out. Put your own function in the place of `trim`."""

import json
import sys


def trim(request, budget):
    """Keeps the instructions and the newest messages."""
    system = [message for message in request["messages"] if message["role"] == "system"]
    others = [message for message in request["messages"] if message["role"] != "system"]
    return {**request, "messages": system + others[-budget["messages"] :]}


MODES = {"trim": trim}

for line in sys.stdin:
    asked = json.loads(line)
    try:
        answer = {"request": MODES[asked["mode"]](asked["request"], asked.get("budget"))}
    except Exception as error:
        answer = {"error": {"kind": type(error).__name__, "message": str(error)}}
    print(json.dumps({"id": asked["id"], **answer}), flush=True)
