"""Runs ADK's conversion of a history for another provider. Input lines have Gemini requests, output lines the bodies."""
import asyncio
import json
import sys

from google.adk.events import Event
from google.adk.flows.llm_flows.context._contents import _get_contents
from google.adk.models import LlmRequest
from google.adk.models.anthropic_llm import _content_to_message_param, _ToolUseIdSanitizer
from google.adk.models.interactions_utils import extract_system_instruction
from google.adk.models.lite_llm import _get_completion_inputs
from google.genai import types

async def chat(contents, config):
    messages, *_ = await _get_completion_inputs(LlmRequest(contents=contents, config=config), "openai/gpt-5.2")
    return {"model": "gpt-5.2", "messages": [{key: value for key, value in message.items()} for message in messages]}


async def claude(contents, config):
    messages = list(map(_content_to_message_param, contents, [_ToolUseIdSanitizer()] * len(contents)))
    body = {"model": "claude-sonnet-5", "max_tokens": 1024, "messages": [message for message in messages if message["content"]]}
    return body | ({"system": system} if (system := extract_system_instruction(config)) else {})


async def gemini(contents, config):
    return {"contents": [content.model_dump(mode="json", by_alias=True, exclude_none=True) for content in contents]}
FILTERS = {"to-anthropic": claude, "to-chat": chat, "contents": gemini}
for line in sys.stdin:
    asked, given = json.loads(line), None
    try:
        config = types.GenerateContentConfig(system_instruction=asked["request"].get("systemInstruction"))
        given = [types.Content.model_validate(content) for content in asked["request"]["contents"]]
        events = [Event(author="user" if content.role != "model" else "agent", content=content) for content in given]
        body = asyncio.run(FILTERS[asked["mode"]](_get_contents(None, events, "agent", preserve_function_call_ids=True), config))
        answer = {"request": {**asked["request"], **body} if asked["mode"] == "contents" else json.loads(json.dumps(body, default=dict))}
    except Exception as error:
        # ADK never gets requests that the types of google-genai cannot parse.
        raised = {"error": {"kind": type(error).__name__, "message": str(error)}}
        answer = {"unsupported": str(error)} if given is None else raised
    print(json.dumps({"id": asked["id"], **answer}), flush=True)
