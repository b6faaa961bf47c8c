"""Runs turnsafe. Each input line has a history, each output line the answer."""

import json
import sys

import turnsafe

PROVIDERS = {"anthropic-messages": "anthropic", "openai-chat": "openai"}


def filtered(asked, messages, provider):
    if asked["mode"] == "fit":
        kept = turnsafe.fit_detailed(messages, asked["budget"]["tokens"], provider)
        return kept.messages, {"size": kept.tokens}
    on_missing = "strip" if asked["mode"] == "strip" else "placeholder"
    messages, fixes = turnsafe.repair_detailed(messages, provider, on_missing=on_missing)
    return messages, {"notes": [str(fix) for fix in fixes]}


for line in sys.stdin:
    asked = json.loads(line)
    try:
        messages, beside = filtered(asked, asked["request"]["messages"], PROVIDERS[asked["from"]])
        answer = {"request": {**asked["request"], "messages": messages}, **beside}
    except turnsafe.ContextBudgetError as error:
        answer = {"unsupported": f"the budget is too small: {error}"}
    except Exception as error:
        answer = {"error": {"kind": type(error).__name__, "message": str(error)}}
    print(json.dumps({"id": asked["id"], **answer}), flush=True)
