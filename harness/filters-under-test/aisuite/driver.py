"""Runs aisuite's conversion of a chat completion."""

from aisuite.providers.anthropic_provider import AnthropicMessageConverter
from aisuite.providers.aws_provider import AwsProvider, BedrockMessageConverter
from aisuite.providers.gemini_provider import GeminiMessageConverter
from brickbat_filter import serve
from google.genai.types import Content

ANTHROPIC, GEMINI = AnthropicMessageConverter(), GeminiMessageConverter()
AWS = AwsProvider.__new__(AwsProvider)  # Its constructor requires a region and keys.
SCHEMA = {"type": "object", "properties": {}, "required": []}


def anthropic(messages, tools):
    system, messages = ANTHROPIC.convert_request(messages)
    return {"max_tokens": 4096, "system": system, "messages": messages, "tools": ANTHROPIC.convert_tool_spec(tools)}


def gemini(messages, tools):
    system, contents = GEMINI.convert_request(messages)
    instruction = {"systemInstruction": {"parts": [{"text": system}]}} if system else {}
    contents = [Content.model_validate(content) for content in contents]
    return {"contents": [content.model_dump(mode="json", by_alias=True, exclude_none=True) for content in contents], **instruction}


def bedrock(messages, tools):
    system, messages = BedrockMessageConverter.convert_request(messages)
    return {"messages": messages, "system": system, **({"toolConfig": AWS._convert_tool_spec({"tools": tools})} if tools else {})}


FILTERS = {"to-anthropic": anthropic, "to-gemini": gemini, "to-bedrock": bedrock}


def converted(asked):
    # Tool descriptions and schemas do not belong to the history, so they are replaced.
    tools = [{**tool, "function": {"description": "", **tool["function"], "parameters": SCHEMA}} for tool in asked["request"].get("tools") or []]
    return {"request": {"model": asked["model"], **FILTERS[asked["mode"]](asked["request"]["messages"], tools)}}


serve(converted)
