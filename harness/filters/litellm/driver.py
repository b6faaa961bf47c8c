"""Judges how LiteLLM translates a history: one line of standard input is one request, one line of output the answer."""

import json
import os
import sys

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # Else it asks the network for prices.
import litellm
from litellm.completion_extras.litellm_responses_transformation.transformation import LiteLLMResponsesTransformationHandler
from litellm.llms.anthropic.messages.adapters.transformation import LiteLLMAnthropicMessagesAdapter
from litellm.llms.vertex_ai.gemini.transformation import transform_request_body
from litellm.responses.litellm_completion_transformation.transformation import LiteLLMCompletionResponsesConfig
from litellm.utils import get_optional_params, validate_and_fix_openai_messages

TARGETS = {
    "to-anthropic": ("claude-sonnet-5", "anthropic", litellm.AnthropicConfig()),
    "to-gemini": ("gemini-3-pro-preview", "gemini", None),
    "to-mistral": ("mistral-large-latest", "mistral", litellm.MistralConfig()),
    "to-bedrock": ("anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock", litellm.AmazonConverseConfig()),
}


def translated(mode, request):
    if mode == "anthropic-to-chat":
        return dict(LiteLLMAnthropicMessagesAdapter().translate_anthropic_to_openai(request)[0])
    if mode == "responses-to-chat":
        body = LiteLLMCompletionResponsesConfig.transform_responses_api_request_to_chat_completion_request(
            model="gpt-5.2", input=request["input"], responses_api_request={**request})
        return {key: body[key] for key in ("model", "messages", "tools") if body.get(key)}
    if mode == "chat-to-responses":
        items, instructions = LiteLLMResponsesTransformationHandler().convert_chat_completion_messages_to_responses_api(request["messages"])
        return {"model": "gpt-5.2", "input": items, **({"instructions": instructions} if instructions else {})}
    model, provider, config = TARGETS[mode.removesuffix("-modified")]
    litellm.modify_params = mode.endswith("-modified")
    messages = validate_and_fix_openai_messages(messages=request["messages"])
    shared = config or litellm.GoogleAIStudioGeminiConfig()
    messages = shared.translate_developer_role_to_system_role(messages)
    options = get_optional_params(model=model, custom_llm_provider=provider, tools=request.get("tools"), max_tokens=1024)
    if config is None:
        return {"model": model, **transform_request_body(messages, model, options, provider, {}, None)}
    body = config.transform_request(model=model, messages=messages, optional_params=options, litellm_params={}, headers={})
    return {"model": model, **body}


for line in sys.stdin:
    asked = json.loads(line)
    try:
        answer = {"request": json.loads(json.dumps(translated(asked["mode"], asked["request"]), default=lambda item: item.model_dump(exclude_none=True)))}
    except Exception as error:
        answer = {"error": {"kind": type(error).__name__, "message": str(error)}}
    print(json.dumps({"id": asked["id"], **answer}), flush=True)
