"""Runs ADK's conversion of a history for another provider."""

from brickbat_filter import conversion, serve
from google.adk.events import Event
from google.adk.flows.llm_flows.context._contents import _get_contents
from google.adk.models import LlmRequest
from google.adk.models.anthropic_llm import _content_to_message_param, _ToolUseIdSanitizer
from google.adk.models.interactions_utils import extract_system_instruction
from google.adk.models.lite_llm import _get_completion_inputs
from google.genai import types


async def chat(contents, config):
    messages, *_ = await _get_completion_inputs(LlmRequest(contents=contents, config=config), "openai/gpt-5.2")
    return {"model": "gpt-5.2", "messages": messages}


async def claude(contents, config):
    messages = list(map(_content_to_message_param, contents, [_ToolUseIdSanitizer()] * len(contents)))
    body = {"model": "claude-sonnet-5", "max_tokens": 1024, "messages": [message for message in messages if message["content"]]}
    return body | ({"system": system} if (system := extract_system_instruction(config)) else {})


async def gemini(contents, config):
    return {"contents": [content.model_dump(mode="json", by_alias=True, exclude_none=True) for content in contents]}


FILTERS = {"to-anthropic": claude, "to-chat": chat, "contents": gemini}


async def sent(asked):
    request = asked["request"]
    # ADK never gets requests that the types of google-genai cannot parse.
    with conversion():
        config = types.GenerateContentConfig(system_instruction=request.get("systemInstruction"))
        given = [types.Content.model_validate(content) for content in request["contents"]]
    events = [Event(author="user" if content.role != "model" else "agent", content=content) for content in given]
    body = await FILTERS[asked["mode"]](_get_contents(None, events, "agent", preserve_function_call_ids=True), config)
    return {"request": {**request, **body} if asked["mode"] == "contents" else body}


serve(sent, default=dict)
