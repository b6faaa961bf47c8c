"""Runs LiteLLM's endpoints of other dialects."""

import os

from brickbat_filter import serve

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # Otherwise it downloads prices.
from litellm.completion_extras.litellm_responses_transformation.transformation import LiteLLMResponsesTransformationHandler
from litellm.llms.anthropic.messages.adapters.transformation import LiteLLMAnthropicMessagesAdapter
from litellm.responses.litellm_completion_transformation.transformation import LiteLLMCompletionResponsesConfig

ANTHROPIC, HANDLER = LiteLLMAnthropicMessagesAdapter(), LiteLLMResponsesTransformationHandler()


def messages_over_chat(request):
    return ANTHROPIC.translate_anthropic_to_openai(request)[0]


def responses_over_chat(request):
    body = LiteLLMCompletionResponsesConfig.transform_responses_api_request_to_chat_completion_request(
        model="gpt-5.2", input=request["input"], responses_api_request=request)
    return {key: body[key] for key in ("messages", "tools") if body.get(key)}


def chat_over_responses(request):
    items, instructions = HANDLER.convert_chat_completion_messages_to_responses_api(request["messages"])
    return {"input": items, **({"instructions": instructions} if instructions else {})}


FILTERS = {"anthropic-to-chat": messages_over_chat, "responses-to-chat": responses_over_chat, "chat-to-responses": chat_over_responses}
serve(lambda asked: {"request": {**FILTERS[asked["mode"]](asked["request"]), "model": asked["model"]}},
      default=lambda item: item.model_dump(exclude_none=True))
