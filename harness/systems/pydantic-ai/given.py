"""Converts a given history to the form that an application of Pydantic AI stores. Broken parts stay broken."""
from pydantic_ai import ModelMessagesTypeAdapter
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart


def give(_, store, history):
    blocks = [block for said in history for block in said.get("assistant", ())]
    names = {block["call"]["id"]: block["call"]["tool"] for block in blocks if "call" in block}

    def part(block):
        if call := block.get("call"):
            # Arguments that are not a JSON object are stored as the model's text.
            return ToolCallPart(call["tool"], call.get("raw", call["args"]), call["id"])
        return TextPart(block["text"])

    def result(one):
        outcome = {"outcome": "failed"} if one["isError"] else {}
        return ToolReturnPart(names.get(one["id"], one.get("orphanOf", "unknown")), one["text"], one["id"], **outcome)

    def message(said):
        if "user" in said:
            return ModelRequest([UserPromptPart(said["user"])])
        if "assistant" in said:
            return ModelResponse([part(block) for block in said["assistant"]])
        return ModelRequest([result(one) for one in said["results"]])

    store.save(ModelMessagesTypeAdapter.dump_json([message(said) for said in history]))
