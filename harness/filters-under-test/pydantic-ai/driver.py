"""Runs Pydantic AI's sending of a history."""

import json

import httpx2
from brickbat_filter import serve
from pydantic_ai import ModelMessagesTypeAdapter
from pydantic_ai.messages import repair_messages
from pydantic_ai.models import ModelRequestParameters, infer_model
from pydantic_ai.providers import infer_provider_class

SENT = []


def refuse(request):
    SENT.append(json.loads(request.content))
    return httpx2.Response(400, json={})


CLIENT = httpx2.AsyncClient(transport=httpx2.MockTransport(refuse))
NAMES = {"anthropic-messages": "anthropic:claude-sonnet-5", "openai-chat": "openai-chat:gpt-5.2",
         "openai-responses": "openai-responses:gpt-5.2", "gemini": "google:gemini-3-pro-preview"}
MODELS = {dialect: infer_model(name, lambda provider: infer_provider_class(provider)(api_key="none", http_client=CLIENT))
          for dialect, name in NAMES.items()}


async def sent(asked):
    model = MODELS[asked["to"]]
    SENT.clear()
    try:
        messages = ModelMessagesTypeAdapter.validate_python(asked["request"])
        repaired = repair_messages(messages) if asked["mode"].startswith("repair") else messages
        await model.request(repaired, None, ModelRequestParameters())
    except Exception:
        # The answer to every request is an error.
        if not SENT:
            raise
    return {"request": {"model": model.model_name, **SENT[0]}}


serve(sent)
