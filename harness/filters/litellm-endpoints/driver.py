"""Runs LiteLLM's endpoints of other dialects. Each input line has a request, each output line the translated request."""

import json
import os
import sys

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # Otherwise it downloads prices.
import litellm
from litellm.completion_extras.litellm_responses_transformation.transformation import LiteLLMResponsesTransformationHandler
from litellm.llms.anthropic.messages.adapters.transformation import LiteLLMAnthropicMessagesAdapter
from litellm.responses.litellm_completion_transformation.transformation import LiteLLMCompletionResponsesConfig

litellm.suppress_debug_info = True  # It would print hints to standard output.
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
for line in sys.stdin:
    asked = json.loads(line)
    try:
        body = {**FILTERS[asked["mode"]](asked["request"]), "model": asked["model"]}
        answer = {"request": json.loads(json.dumps(body, default=lambda item: item.model_dump(exclude_none=True)))}
    except Exception as error:
        answer = {"error": {"kind": type(error).__name__, "message": str(error)}}
    print(json.dumps({"id": asked["id"], **answer}), flush=True)
