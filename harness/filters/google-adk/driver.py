"""Judges how ADK sends a history to another provider: one line in is one Gemini request, one line out the body."""

import asyncio
import json
import sys

from google.adk.events import Event
from google.adk.flows.llm_flows.context._contents import _get_contents
from google.adk.models import LlmRequest
from google.adk.models.anthropic_llm import _content_to_message_param, _ToolUseIdSanitizer
from google.adk.models.lite_llm import _get_completion_inputs
from google.genai import types


async def chat(contents):
    messages, *_ = await _get_completion_inputs(LlmRequest(contents=contents), "openai/gpt-5.2")
    return {"model": "gpt-5.2", "messages": [{key: value for key, value in message.items()} for message in messages]}


async def claude(contents):
    sanitizer = _ToolUseIdSanitizer()
    messages = [_content_to_message_param(content, sanitizer) for content in contents]
    return {"model": "claude-sonnet-5", "max_tokens": 1024, "messages": [message for message in messages if message["content"]]}


async def gemini(contents):
    return {"contents": [content.model_dump(mode="json", by_alias=True, exclude_none=True) for content in contents]}

FILTERS = {"to-anthropic": claude, "to-chat": chat, "contents": gemini}
for line in sys.stdin:
    asked = json.loads(line)
    try:
        given = [types.Content.model_validate(content) for content in asked["request"]["contents"]]
        events = [Event(author="user" if content.role != "model" else "agent", content=content) for content in given]
        contents = _get_contents(None, events, "agent", preserve_function_call_ids=True)
        body = asyncio.run(FILTERS[asked["mode"]](contents))
        answer = {"request": {**asked["request"], **body} if asked["mode"] == "contents" else json.loads(json.dumps(body, default=dict))}
    except Exception as error:
        answer = {"error": {"kind": type(error).__name__, "message": str(error)}}
    print(json.dumps({"id": asked["id"], **answer}), flush=True)
