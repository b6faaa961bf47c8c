"""Runs llm-rosetta."""

from brickbat_filter import serve
from llm_rosetta import convert

PROVIDERS = {"anthropic-messages": "anthropic", "openai-chat": "openai_chat",
             "openai-responses": "openai_responses", "gemini": "google"}


def converted(asked):
    body = convert(asked["request"], PROVIDERS[asked["to"]], PROVIDERS[asked["from"]])
    return {"request": {"model": asked["model"] or asked["request"].get("model"), **body}}


serve(converted)
