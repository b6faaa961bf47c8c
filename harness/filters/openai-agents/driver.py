"""Runs the OpenAI Agents SDK's processing of a history. Each input line has a request, each output line the answer."""

import json
import sys
from types import SimpleNamespace

from agents import HandoffInputData
from agents.extensions.handoff_filters import nest_handoff_history, remove_all_tools
from agents.extensions.tool_output_trimmer import ToolOutputTrimmer
from agents.models.chatcmpl_converter import Converter


def handed_over(items, handoff_filter):
    data = HandoffInputData(input_history=tuple(items), pre_handoff_items=(), new_items=())
    return {"input": list(handoff_filter(data).input_history)}


def trimmed(items):
    model_data = SimpleNamespace(input=items, instructions=None)
    trimmer = ToolOutputTrimmer(recent_turns=1, max_output_chars=4, preview_chars=2)
    return {"input": trimmer(SimpleNamespace(model_data=model_data)).input}


FILTERS = {
    "remove-all-tools": lambda items: handed_over(items, remove_all_tools),
    "nest-handoff-history": lambda items: handed_over(items, nest_handoff_history),
    "tool-output-trimmer": trimmed,
    "chat-completions": lambda items: {"messages": Converter.items_to_messages(items, model="gpt-5.2"), "input": None},
}
for line in sys.stdin:
    asked = json.loads(line)
    try:
        body = {**asked["request"], **FILTERS[asked["mode"]](asked["request"]["input"])}
        answer = {"request": {key: value for key, value in body.items() if value is not None}}
    except Exception as error:
        answer = {"error": {"kind": type(error).__name__, "message": str(error)}}
    print(json.dumps({"id": asked["id"], **answer}), flush=True)
