"""Checks if a provider would accept a history."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from typing import Any

from brickbat._binary import binary

# Exit codes of `brickbat check`.
ACCEPTED, REFUSED = 0, 1


def assert_history(
    messages: Any,
    *,
    dialect: str | None = None,
    host: str | None = None,
    model: str | None = None,
    profile: str | None = None,
) -> None:
    """Fails with the provider's message if a provider would reject these messages as the start of the next request.

    `messages` is a list of messages or a complete request body. It can contain message objects of SDKs that convert to JSON.
    `dialect` is required if the messages do not show it. `host`, `model` and `profile` select the rules; by default they are
    the newest of the dialect.
    """
    named = {"--dialect": dialect, "--host": host, "--model": model, "--profile": profile}
    options = [word for name, value in named.items() if value is not None for word in (name, value)]
    # On one line, so that a list counts as one history.
    text = json.dumps(messages, default=plain)
    command = [binary(), "check", *options, "-"]
    done = subprocess.run(command, input=text, capture_output=True, encoding="utf-8", check=False)
    if done.returncode == REFUSED:
        raise AssertionError(f"the provider would refuse this history\n{done.stdout.rstrip()}")
    if done.returncode != ACCEPTED:
        raise ValueError(f"this history cannot be judged: {(done.stderr or done.stdout).strip()}")


def plain(value: Any) -> Any:
    """Converts a message object of an SDK to the JSON that its client would send."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    raise TypeError(f"a history consists of JSON messages, and {type(value).__name__} cannot be converted to JSON")
