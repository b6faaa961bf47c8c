"""Runs tessera."""

from brickbat_filter import serve
from tessera import compact, repair

ADAPTERS = {"anthropic-messages": "anthropic", "openai-chat": "openai"}


def filtered(asked):
    messages, adapter = asked["request"]["messages"], ADAPTERS[asked["from"]]
    if asked["mode"] == "compact":
        done = compact(messages, max_tokens=asked["budget"]["tokens"], adapter=adapter)
        report = {"size": asked["budget"]["tokens"] if done.refused else done.tokens_after}
    else:
        done = repair(messages, adapter=adapter)
        report = {"notes": [str(change) for change in done.changes]}
    return {"request": {**asked["request"], "messages": done.transcript}, **report}


serve(filtered)
