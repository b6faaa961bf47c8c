"""Runs any-llm's conversion of a chat completion."""

import base64

from any_llm.providers.anthropic import AnthropicProvider
from any_llm.providers.bedrock import BedrockProvider
from any_llm.providers.gemini import GeminiProvider
from any_llm.types.completion import CompletionParams
from brickbat_filter import serve


def dumped(models):
    return [model.model_dump(mode="json", by_alias=True, exclude_none=True) for model in models or []]


def params(provider, asked):
    request = asked["request"]
    given = CompletionParams(model_id=asked["model"], messages=request["messages"], tools=request.get("tools"))
    named = {} if provider is BedrockProvider else {"provider_name": provider.PROVIDER_NAME}
    return provider._convert_completion_params(given, **named)


def gemini(asked):
    body = params(GeminiProvider, asked)
    config, system = body["config"], body["config"].system_instruction
    instruction = {"systemInstruction": {"parts": [{"text": system}]}} if system else {}
    return {"model": asked["model"], "contents": dumped(body["contents"]), "tools": dumped(config.tools), **instruction}


FILTERS = {"to-anthropic": lambda asked: params(AnthropicProvider, asked), "to-gemini": gemini,
           "to-bedrock": lambda asked: params(BedrockProvider, asked)}
serve(lambda asked: {"request": FILTERS[asked["mode"]](asked)}, default=lambda raw: base64.b64encode(raw).decode())
