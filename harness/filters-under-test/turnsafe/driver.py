"""Runs turnsafe."""

import turnsafe
from brickbat_filter import Unsupported, serve

PROVIDERS = {"anthropic-messages": "anthropic", "openai-chat": "openai"}


def fitted(messages, budget, provider):
    try:
        kept = turnsafe.fit_detailed(messages, budget["tokens"], provider)
    except turnsafe.ContextBudgetError as error:
        raise Unsupported(f"the budget is too small: {error}") from error
    return kept.messages, {"size": kept.tokens}


def repaired(messages, mode, provider):
    on_missing = "strip" if mode == "strip" else "placeholder"
    messages, fixes = turnsafe.repair_detailed(messages, provider, on_missing=on_missing)
    return messages, {"notes": [str(fix) for fix in fixes]}


def filtered(asked):
    given, mode, provider = asked["request"]["messages"], asked["mode"], PROVIDERS[asked["from"]]
    messages, report = fitted(given, asked["budget"], provider) if mode == "fit" else repaired(given, mode, provider)
    return {"request": {**asked["request"], "messages": messages}, **report}


serve(filtered)
