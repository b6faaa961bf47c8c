"""Runs LiteLLM's translation of a chat completion."""

import os

from brickbat_filter import serve

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # Otherwise it downloads prices.
import litellm
from litellm.llms.base_llm.base_utils import map_developer_role_to_system_role
from litellm.llms.vertex_ai.gemini.transformation import transform_request_body
from litellm.utils import get_optional_params, validate_and_fix_openai_messages

GEMINI = litellm.GoogleAIStudioGeminiConfig()
TARGETS = {
    "to-anthropic": ("claude-sonnet-5", "anthropic", litellm.AnthropicConfig()),
    "to-gemini": ("gemini-3-pro-preview", "gemini", GEMINI),
    "to-mistral": ("mistral-large-latest", "mistral", litellm.MistralConfig()),
    "to-bedrock": ("anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock", litellm.AmazonConverseConfig()),
}


def translated(mode, request):
    model, provider, config = TARGETS[mode.removesuffix("-modified")]
    litellm.modify_params = mode.endswith("-modified")
    messages = validate_and_fix_openai_messages(messages=request["messages"])
    messages = map_developer_role_to_system_role(messages=messages)
    options = get_optional_params(model=model, custom_llm_provider=provider, tools=request.get("tools"), max_tokens=1024)
    if config is GEMINI:
        return transform_request_body(messages, model, options, provider, {}, None)
    return config.transform_request(model=model, messages=messages, optional_params=options, litellm_params={}, headers={})


serve(lambda asked: {"request": {"model": asked["model"], **translated(asked["mode"], asked["request"])}})
