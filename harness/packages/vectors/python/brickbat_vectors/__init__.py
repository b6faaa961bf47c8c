"""Histories, streams and stored sessions with the reaction of the provider. See the README of the package."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

DATA = Path(__file__).parent / "data"


class Vector(NamedTuple):
    """One input with the expected result: `valid`, `acceptable` or `invalid`."""

    group: str  # The dialect; for a session, the product.
    rule: str | None  # The id of the rule that the file is about.
    name: str
    result: str
    input: Any  # The request as JSON, or as text if it is not JSON; the bytes of a stream; the files of a session by name.
    entry: dict  # The complete entry, as in the file.


class Skip(Exception):
    """Raised by a validator for a vector that it does not judge."""


def histories() -> Iterator[Vector]:
    """Yields each request body."""
    for group, rule, entry in _entries("histories"):
        body = entry["body"] if "body" in entry else _padded(entry)
        yield Vector(group, rule, entry["name"], entry["result"], body, entry)


def streams() -> Iterator[Vector]:
    """Yields each recorded reply."""
    for group, rule, entry in _entries("streams"):
        text = "".join(line + "\n" for line in entry.get("lines", []))
        data = bytes.fromhex(entry["hex"]) if "hex" in entry else text.encode()
        yield Vector(group, rule, entry["name"], entry["result"], data, entry)


def sessions() -> Iterator[Vector]:
    """Yields each stored session. The store is the first file."""
    for path in sorted((DATA / "sessions").glob("*/entries.json")):
        for name, entry in json.loads(path.read_text(encoding="utf-8"))["sessions"].items():
            expect = entry["expect"]
            result = "valid" if expect["layer"] == "none" else "invalid" if expect["exit"] else "acceptable"
            files = {file: (path.parent / file).read_bytes() for file in [entry["store"], *entry.get("companions", [])]}
            yield Vector(path.parent.name, expect.get("rule"), name, result, files, entry)


def schema(kind: str) -> dict:
    """The JSON Schema of the files of `histories`, `streams` or `sessions`."""
    return json.loads((DATA / "schemas" / f"{kind}.schema.json").read_text(encoding="utf-8"))


def _entries(kind: str) -> Iterator[tuple[str, str | None, dict]]:
    for path in sorted((DATA / kind).glob("*/*.json")):
        file = json.loads(path.read_text(encoding="utf-8"))
        for entry in file["vectors"]:
            yield path.parent.name, file.get("rule"), entry


def _padded(entry: dict) -> Any:
    """Lengthens the text that is shorter in the file than in the request."""
    if "padded" not in entry:
        return entry["request"]
    body = json.loads(json.dumps(entry["request"]))
    *way, last = entry["padded"]["pointer"].split("/")[1:]
    place = body
    for step in way:
        place = place[int(step) if isinstance(place, list) else step]
    last = int(last) if isinstance(place, list) else last
    size = len(json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode())
    place[last] += "A" * (entry["padded"]["bytes"] - size)
    return body
