"""Runs LlamaIndex's memory buffers."""

from brickbat_filter import conversion, serve
from llama_index.core.llms import MockLLM
from llama_index.core.memory import ChatMemoryBuffer, ChatSummaryMemoryBuffer
from llama_index.llms.openai.utils import from_openai_message_dicts, to_openai_message_dicts


def buffer(messages, budget):
    memory = ChatMemoryBuffer.from_defaults(messages, token_limit=budget["tokens"], tokenizer_fn=str.split)
    return memory.get()


def summary(messages, budget):
    options = {"token_limit": budget["tokens"], "tokenizer_fn": str.split}
    return ChatSummaryMemoryBuffer.from_defaults(messages, llm=MockLLM(max_tokens=8), **options).get()


FILTERS = {"buffer": buffer, "summary": summary}


def filtered(asked):
    given = asked["request"]["messages"]
    if asked["mode"] == "read":
        messages = from_openai_message_dicts(given)
    else:
        with conversion():
            messages = from_openai_message_dicts(given)
        if not asked.get("control"):
            messages = FILTERS[asked["mode"]](messages, asked["budget"])
    return {"request": {**asked["request"], "messages": to_openai_message_dicts(messages, model="gpt-5.2")}}


serve(filtered)
