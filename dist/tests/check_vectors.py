"""Checks the installed package `brickbat-vectors`. Usage: check_vectors.py CORPORA LINES

Every file is valid under the schema of its kind, the numbers are those of the corpora, and LINES, the output of `vectors.mjs`,
describes the same vectors. Each check is tried with an input that must fail.
"""

import hashlib
import json
import sys
from collections import Counter
from pathlib import Path

import brickbat_vectors
import yaml
from brickbat_vectors.score import score
from jsonschema import Draft202012Validator

CORPORA, LINES = map(Path, sys.argv[1:])
KINDS = ("histories", "streams", "sessions")


def check(is_right: bool, text: object) -> None:
    if not is_right:
        sys.exit(f"check_vectors: {text}")


def files(kind: str) -> list[Path]:
    pattern = "*/entries.json" if kind == "sessions" else "*/*.json"
    return sorted((brickbat_vectors.DATA / kind).glob(pattern))


def valid_under_schemas() -> None:
    for kind in KINDS:
        schema = brickbat_vectors.schema(kind)
        Draft202012Validator.check_schema(schema)
        validator = Draft202012Validator(schema)
        for path in files(kind):
            file = json.loads(path.read_text(encoding="utf-8"))
            error = next(validator.iter_errors(file), None)
            check(error is None, f"{path}: {error and error.message[:200]}")
        entries = list(file["sessions"].values()) if kind == "sessions" else file["vectors"]
        for broken in ({**file, "schema": "1"}, {**file, "comments": ""}):
            check(not validator.is_valid(broken), f"{kind}: the schema accepts a broken file")
        del entries[0]["comment"]
        check(not validator.is_valid(file), f"{kind}: the schema accepts an entry without a comment")


def as_many_as_in_the_corpora() -> None:
    found, wanted = Counter(), Counter()
    for kind in KINDS:
        found.update((kind, vector.group) for vector in getattr(brickbat_vectors, kind)())
    for kind in ("histories", "streams"):
        for path in (CORPORA / kind).glob("*/*.json"):
            wanted[kind, path.parent.name] += len(json.loads(path.read_text(encoding="utf-8"))["vectors"])
    for path in (CORPORA / "sessions").glob("*/entries.yaml"):
        wanted["sessions", path.parent.name] += len(yaml.safe_load(path.read_text(encoding="utf-8"))["sessions"])
    check(found == wanted, f"other numbers than in the corpora: {found - wanted} {wanted - found}")
    counts = json.loads((brickbat_vectors.DATA / "index.json").read_text(encoding="utf-8"))["counts"]
    check(found == Counter({(kind, group): n for kind in KINDS for group, n in counts[kind].items()}), "index.json counts differently")
    stored = {path for path in (CORPORA / "sessions").rglob("*") if path.is_file() and path.name != "entries.yaml"}
    for path in stored:
        packed = brickbat_vectors.DATA / path.relative_to(CORPORA)
        check(packed.read_bytes() == path.read_bytes(), f"{packed} differs from the corpus")


def same_in_javascript() -> None:
    lines = []
    for kind in KINDS:
        for group, rule, name, result, value, _ in getattr(brickbat_vectors, kind)():
            if kind == "histories":
                # JavaScript has one type for 1 and 1.0.
                value = json.loads(json.dumps(value), parse_float=lambda text: int(float(text)) if float(text).is_integer() else float(text))
                value = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
            elif kind == "sessions":
                value = b"".join(value.values())
            lines.append([kind, group, rule, name, result, hashlib.sha256(value).hexdigest()])
    theirs = [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()]
    differing = [pair for pair in zip(lines, theirs) if pair[0] != pair[1]]
    check(len(lines) == len(theirs) and not differing, f"JavaScript loads other vectors: {differing[:3]}")


def scores() -> None:
    """A validator that accepts everything and one that refuses everything both catch nothing."""
    vectors = list(brickbat_vectors.histories())
    for answer in (True, False):
        rules = score(lambda *_: answer, vectors).values()
        check(any(rule["invalid"] for rule in rules), "no vectors are judged")
        with_valid = [rule for rule in rules if rule["valid"]]
        check(not any(rule["caught"] for rule in with_valid), f"catches although every answer is {answer}")
    by_result = {(id(vector.entry)): vector.result for vector in vectors}
    perfect = score(lambda _, __, entry: by_result[id(entry)] != "invalid", vectors).values()
    check(all(len(rule["caught"]) == len(rule["invalid"]) for rule in perfect), "right answers are not counted")
    check(all(not any(rule["valid"]) for rule in perfect), "right answers are counted as refusals")


valid_under_schemas()
as_many_as_in_the_corpora()
same_in_javascript()
scores()
print(sum(1 for kind in KINDS for _ in getattr(brickbat_vectors, kind)()), "vectors, the same in Python and JavaScript")
