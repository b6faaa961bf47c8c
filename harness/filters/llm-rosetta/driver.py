"""Runs llm-rosetta. Each input line has a request, each output line its translation."""

import json
import sys

from llm_rosetta import convert

PROVIDERS = {"anthropic-messages": "anthropic", "openai-chat": "openai_chat",
             "openai-responses": "openai_responses", "gemini": "google"}

for line in sys.stdin:
    asked = json.loads(line)
    try:
        body = convert(asked["request"], PROVIDERS[asked["to"]], PROVIDERS[asked["from"]])
        answer = {"request": {"model": asked["model"] or asked["request"].get("model"), **body}}
    except Exception as error:
        answer = {"error": {"kind": type(error).__name__, "message": str(error)}}
    print(json.dumps({"id": asked["id"], **answer}), flush=True)
