"""Runs toolrepair."""

from brickbat_filter import serve
from toolrepair import repair, safe_trim

FORMATS = {"anthropic-messages": "anthropic", "openai-chat": "openai"}


def filtered(asked):
    messages, form = asked["request"]["messages"], FORMATS[asked["from"]]
    if asked["mode"] == "trim":
        messages = safe_trim(messages, keep=asked["budget"]["messages"], format=form)
    else:
        messages = repair(messages, format=form, strategy=asked["mode"])
    return {"request": {**asked["request"], "messages": messages}}


serve(filtered)
