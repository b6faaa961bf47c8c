"""Runs the OpenAI Agents SDK's processing of a history."""

from types import SimpleNamespace

from agents import HandoffInputData
from agents.extensions.handoff_filters import nest_handoff_history, remove_all_tools
from agents.extensions.tool_output_trimmer import ToolOutputTrimmer
from agents.models.chatcmpl_converter import Converter
from brickbat_filter import serve


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


def filtered(asked):
    body = {**asked["request"], **FILTERS[asked["mode"]](asked["request"]["input"])}
    return {"request": {key: value for key, value in body.items() if value is not None}}


serve(filtered)
