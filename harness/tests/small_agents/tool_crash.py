"""An agent that reads files. A file that does not exist ends it, after the reply with the call was stored."""

import json
import os
import sys
import urllib.request
from pathlib import Path

THREAD = Path("thread.json")
URL = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = [{"name": "read_file", "description": "Reads a file.", "input_schema": PATH}]


def ask(messages):
    body = {"model": "claude-sonnet-4-5", "max_tokens": 1000, "tools": TOOLS, "messages": messages}
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": "k"}
    request = urllib.request.Request(URL, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def run(call):
    try:
        text, failed = Path(call["input"]["path"]).read_text(), False
    except OSError as error:
        if not os.environ.get("FIXED"):
            raise
        text, failed = str(error), True
    return {"type": "tool_result", "tool_use_id": call["id"], "content": text, "is_error": failed}


messages = json.loads(THREAD.read_text()) if THREAD.exists() else []
messages.append({"role": "user", "content": sys.argv[1]})
while True:
    reply = ask(messages)
    messages.append({"role": "assistant", "content": reply["content"]})
    THREAD.write_text(json.dumps(messages))
    calls = [block for block in reply["content"] if block["type"] == "tool_use"]
    if not calls:
        break
    messages.append({"role": "user", "content": [run(call) for call in calls]})
    THREAD.write_text(json.dumps(messages))
