"""Runs Haystack's reading and sending of a history."""

import os

from brickbat_filter import conversion, serve

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
from haystack.dataclasses import ChatMessage
from haystack_integrations.components.generators.anthropic.chat.utils import _convert_messages_to_anthropic_format


def given(asked):
    return [ChatMessage.from_openai_dict_format(message) for message in asked["request"]["messages"]]


def read(asked):
    return {**asked["request"], "messages": [message.to_openai_dict_format() for message in given(asked)]}


def anthropic(asked):
    # Its documentation lists the formats that it cannot read.
    with conversion():
        messages = given(asked)
    system, messages = _convert_messages_to_anthropic_format(messages)
    return {"model": asked["model"], "max_tokens": 8192, "system": system, "messages": messages}


FILTERS = {"read": read, "to-anthropic": anthropic}
serve(lambda asked: {"request": FILTERS[asked["mode"]](asked)})
