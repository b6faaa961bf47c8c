"""Compares the rules with the types of the providers' SDKs, on bodies with one wrong JSON type.

Usage: sdk_types.py BRICKBAT VECTORS EXCEPTIONS [REPORT]

VECTORS is the folder with the vectors of the rules. Each body that the rules accept and the types describe is changed at one
place at a time: a value gets another JSON type. `brickbat check` and the types judge the result. Rejections by the types that
the rules do not share are counted by cause: the dialect, the place without its indexes, and the new type. EXCEPTIONS says
for each cause why the rules accept it; a cause without an entry fails the run, as an entry without a cause does.

The types are those for parameters: `openai`, `anthropic` and `mistralai` as JSON Schemas of the types that their methods take,
`google-genai` as the schema of its model, and `bedrock-runtime` as the service model in `botocore`.
"""

import copy
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path

import botocore.session
from anthropic.types import MessageParam
from botocore.validate import ParamValidator, ValidationErrors
from google.genai.types import Content
from jsonschema import Draft202012Validator
from mistralai.client.models import ChatCompletionRequestMessage
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter

# The list of the conversation in each dialect.
LISTS = {
    "anthropic-messages": "messages",
    "openai-chat": "messages",
    "openai-responses": "input",
    "gemini": "contents",
    "bedrock-converse": "messages",
    "mistral": "messages",
}

# A value of each JSON type.
VALUES = {"null": None, "boolean": True, "number": 7, "string": "x", "array": [], "object": {}}

# Below these fields, the values are the application's.
FREE = {"input", "args", "arguments", "response", "json", "metadata", "cache_control", "cachePoint"}

# A cause is tried in so many bodies.
ENOUGH = 4

# At least so many bodies show a cause that needs a rule or a reason.
NOISE = 2


def type_of(value: object) -> str:
    if value is None:
        return "null"
    kinds = [(bool, "boolean"), (int, "number"), (float, "number"), (str, "string"), (list, "array"), (dict, "object")]
    return next(name for kind, name in kinds if isinstance(value, kind))


def schema_of(of: object) -> Draft202012Validator:
    return Draft202012Validator(TypeAdapter(list[of]).json_schema())


def bedrock() -> Callable[[list], ValidationErrors]:
    model = botocore.session.get_session().get_service_model("bedrock-runtime")
    shape = model.operation_model("Converse").input_shape.members["messages"]
    validator = ParamValidator()
    return lambda messages: validator.validate(messages, shape)


def schemas() -> dict[str, Draft202012Validator]:
    return {
        "anthropic-messages": schema_of(MessageParam),
        "openai-chat": schema_of(ChatCompletionMessageParam),
        "openai-responses": schema_of(ResponseInputItemParam),
        "gemini": schema_of(Content),
        "mistral": schema_of(ChatCompletionRequestMessage),
    }


def validators() -> dict[str, Callable[[list], bool]]:
    errors = bedrock()
    by_model = {"bedrock-converse": lambda messages: not errors(messages).has_errors()}
    return {dialect: schema.is_valid for dialect, schema in schemas().items()} | by_model


def places(value: object, path: tuple) -> Iterator[tuple]:
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in FREE:
                yield (*path, key)
            else:
                yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, (*path, index))


def changed(body: dict, path: tuple, value: object) -> dict:
    made = copy.deepcopy(body)
    at = made
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = copy.deepcopy(value)
    return made


def kind_of(body: dict, path: tuple) -> str:
    """The place without its indexes, with the type and role of the objects on the way."""
    steps, at = [], body
    for step in path:
        at = at[step]
        if isinstance(step, str):
            steps.append(step)
        elif isinstance(at, dict):
            kind = at.get("type") or at.get("role")
            steps.append(f"[{kind}]" if isinstance(kind, str) else "[]")
        else:
            steps.append("[]")
    return "/".join(steps)


def bodies(folder: Path, dialect: str) -> Iterator[dict]:
    for path in sorted((folder / dialect).glob("*.json")):
        for vector in json.loads(path.read_text(encoding="utf-8")).get("vectors", []):
            is_plain = "request" in vector and "profile" not in vector and "earlier" not in vector
            if is_plain and vector["result"] == "valid" and isinstance(vector["request"], dict):
                if isinstance(vector["request"].get(LISTS[dialect]), list):
                    yield vector["request"]


def ours(program: str, dialect: str, made: list[dict]) -> list[bool]:
    """Whether the newest profile of the dialect rejects each body."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(json.dumps(body) + "\n" for body in made)
        file.flush()
        command = [program, "check", "--dialect", dialect, "--profile", dialect, "--format", "json", file.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    rejected, seen = [False] * len(made), [False] * len(made)
    for row in json.loads(done.stdout)["requests"]:
        at = row["line"] - 1
        seen[at] = True
        rejected[at] = row["verdict"] == "refused"
    if not all(seen):
        sys.exit(f"{dialect}: {seen.count(False)} of {len(made)} bodies were not judged: {done.stderr[:500]}")
    return rejected


def compare(program: str, folder: Path, dialect: str, accepts: Callable[[list], bool]) -> tuple[Counter, Counter]:
    listed = LISTS[dialect]
    counts, causes, asked, made, kinds = Counter(), Counter(), Counter(), [], []
    for body in bodies(folder, dialect):
        counts["bodies"] += 1
        if not accepts(body[listed]):
            counts["bodies that the types do not describe"] += 1
            continue
        done = set()
        for index, message in enumerate(body[listed]):
            for path in places(message, (listed, index)):
                old = body
                for step in path:
                    old = old[step]
                for name, value in VALUES.items():
                    kind = f"{kind_of(body, path)}: {name}"
                    if name != type_of(old) and kind not in done and asked[kind] < ENOUGH:
                        done.add(kind)
                        asked[kind] += 1
                        made.append(changed(body, path, value))
                        kinds.append(kind)
    for rejected, kind, body in zip(ours(program, dialect, made), kinds, made, strict=True):
        theirs = not accepts(body[listed])
        counts["mutants"] += 1
        if theirs and rejected:
            counts["both reject"] += 1
        elif theirs:
            counts["only the types reject"] += 1
            causes[kind] += 1
        elif rejected:
            counts["only the rules reject"] += 1
        else:
            counts["both accept"] += 1
    return counts, causes


def main(program: str, vectors: str, exceptions: str, report: str | None = None) -> None:
    reasons = json.loads(Path(exceptions).read_text(encoding="utf-8"))["exceptions"]
    used, unexplained, written = set(), [], {}
    for dialect, accepts in validators().items():
        counts, causes = compare(program, Path(vectors), dialect, accepts)
        print(dialect + ":", ", ".join(f"{n} {what}" for what, n in counts.items()))
        for cause, n in causes.most_common():
            matching = [
                number
                for number, reason in enumerate(reasons)
                if reason["dialect"] == dialect and fnmatch(cause.replace("[", "<").replace("]", ">"), reason["cause"])
            ]
            used.update(matching)
            if not matching and n >= NOISE:
                unexplained.append(f"{n} {dialect}: {cause}")
        written[dialect] = {"counts": counts, "causes": dict(causes.most_common())}
    if report:
        Path(report).write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
    stale = [f"{reason['dialect']}: {reason['cause']}" for number, reason in enumerate(reasons) if number not in used]
    for words, list_ in [("without a reason", unexplained), ("reasons without a cause", stale)]:
        if list_:
            print(f"{len(list_)} {words}:", *list_, sep="\n  ")
    sys.exit(1 if unexplained or stale else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
