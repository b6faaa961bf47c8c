"""Runs LlamaIndex's memory buffers. Each input line has a history, each output line the answer."""

import json
import sys

from llama_index.core.llms import MockLLM
from llama_index.core.memory import ChatMemoryBuffer, ChatSummaryMemoryBuffer
from llama_index.llms.openai.utils import from_openai_message_dicts, to_openai_message_dicts


def buffer(messages, budget):
    memory = ChatMemoryBuffer.from_defaults(messages, token_limit=budget["tokens"], tokenizer_fn=str.split)
    return memory.get()


def summary(messages, budget):
    options = {"token_limit": budget["tokens"], "tokenizer_fn": str.split}
    return ChatSummaryMemoryBuffer.from_defaults(messages, llm=MockLLM(max_tokens=8), **options).get()


def read(messages, _):
    return messages


FILTERS = {"buffer": buffer, "summary": summary, "read": read}
for line in sys.stdin:
    asked = json.loads(line)
    try:
        messages = from_openai_message_dicts(asked["request"]["messages"])
    except Exception as error:
        raised = {"kind": type(error).__name__, "message": str(error)}
        answer = {"error": raised} if asked["mode"] == "read" else {"unsupported": str(raised)}
    else:
        try:
            if not asked.get("control"):
                messages = FILTERS[asked["mode"]](messages, asked.get("budget"))
            answer = {"request": {**asked["request"], "messages": to_openai_message_dicts(messages, model="gpt-5.2")}}
        except Exception as error:
            answer = {"error": {"kind": type(error).__name__, "message": str(error)}}
    print(json.dumps({"id": asked["id"], **answer}), flush=True)
