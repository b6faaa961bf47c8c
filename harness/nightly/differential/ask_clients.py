"""Records the checks that Python client libraries make themselves before they send or convert a history.

Usage: ask_clients.py HISTORIES VERDICTS

Each line of HISTORIES is a request body of OpenAI Chat Completions. Each line of VERDICTS has, for every check, null if it
accepts the body, or else its error without values.
"""

import copy
import json
import logging
import os
import re
import sys
from collections.abc import Callable

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
logging.disable(logging.WARNING)

from langchain_core.messages import convert_to_messages
from langgraph.prebuilt.chat_agent_executor import _validate_chat_history
from litellm.litellm_core_utils.prompt_templates import factory
from litellm.llms.vertex_ai.gemini.transformation import _gemini_convert_messages_with_history
from litellm.utils import validate_and_fix_openai_messages, validate_chat_completion_user_messages


def litellm(messages: list) -> None:
    validate_chat_completion_user_messages(validate_and_fix_openai_messages(messages))


def litellm_anthropic(messages: list) -> None:
    factory.anthropic_messages_pt(messages, model="claude-haiku-4-5", llm_provider="anthropic")


def litellm_bedrock(messages: list) -> None:
    # LiteLLM removes the system prompt before this step.
    spoken = [message for message in messages if message.get("role") != "system"]
    factory._bedrock_converse_messages_pt(spoken, model="anthropic.claude-haiku-4-5", llm_provider="bedrock")


def litellm_gemini(messages: list) -> None:
    _gemini_convert_messages_with_history(messages, model="gemini-2.5-flash")


def langchain(messages: list) -> None:
    convert_to_messages(messages)


def langgraph(messages: list) -> None:
    _validate_chat_history(convert_to_messages(messages))


CHECKS: list[Callable[[list], None]] = [
    litellm,
    litellm_anthropic,
    litellm_bedrock,
    litellm_gemini,
    langchain,
    langgraph,
]

# The kind of an error is its class with the first words of its message.
N_WORDS = 7


def kind(error: Exception) -> str:
    words = re.sub(r"""[\[{'"`(=].*|-?\d+""", "", str(error).split("\n")[0]).split()
    return " ".join([type(error).__name__ + ":", *words[:N_WORDS]])


def verdict(check: Callable[[list], None], body: dict) -> dict | None:
    try:
        check(copy.deepcopy(body["messages"]))
    except Exception as error:
        return {"kind": kind(error)}
    return None


def main(histories: str, verdicts: str) -> None:
    with open(histories, encoding="utf-8") as bodies, open(verdicts, "w", encoding="utf-8") as out:
        for line in bodies:
            body = json.loads(line)
            found = {check.__name__.replace("_", "-"): verdict(check, body) for check in CHECKS}
            out.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
