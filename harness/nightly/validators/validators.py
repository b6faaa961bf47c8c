"""Scores validators of others on the test vectors, and writes docs/data/validators.json.

python validators.py places PROGRAM OUT          asks brickbat where each invalid vector breaks its rule
python validators.py ask GROUP PLACES OUT        scores the validators of a group: `types` or `clients`
python validators.py merge RESULT OUT…           puts the parts together, with the claims of validators.json
python validators.py frames                      decodes the bytes of binary streams with botocore, and compares the frames

The vectors and the runner are those of the installed package `brickbat-vectors`. A validator that takes only messages is not
asked about a fault outside them. No validator is asked about providers that are only compatible, histories that need earlier
requests, invented parts, and undocumented forms.
"""

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from fnmatch import fnmatch
from importlib.metadata import version
from pathlib import Path

from brickbat_vectors import Skip, histories, streams
from brickbat_vectors.score import score

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "differential"))

LISTED = json.loads((HERE / "validators.json").read_text(encoding="utf-8"))

# Vectors that are valid because no rejection is known, and that no one has seen accepted. They must not accuse.
IN_DOUBT = set(LISTED["in_doubt"])

# The list of the conversation in each dialect.
LISTS = {"openai-responses": "input", "gemini": "contents"}

# An error of these classes is one of the validator itself, not its judgement.
CRASHES = ("TypeError", "KeyError", "AttributeError", "IndexError", "UnboundLocalError")


def is_asked(vector) -> bool:
    entry = vector.entry
    # A file without a rule has undocumented forms that providers accept, and no SDK has to know them.
    if vector.rule is None or f"{vector.rule} {vector.name}" in IN_DOUBT:
        return False
    is_plain = isinstance(vector.input, dict) and not entry.keys() & {"profile", "earlier", "padded"}
    return is_plain and "unheard-of" not in entry.get("flags", [])


def places(program: str, out: str) -> None:
    """Writes the JSON pointer of the first fault of each invalid vector, by rule and name."""
    found, by_dialect = {}, {}
    for vector in filter(is_asked, histories()):
        if vector.result == "invalid":
            by_dialect.setdefault(vector.group, []).append(vector)
    for dialect, vectors in by_dialect.items():
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
            file.writelines(json.dumps(vector.input) + "\n" for vector in vectors)
            file.flush()
            command = [program, "check", "--dialect", dialect, "--profile", dialect, "--format", "json", file.name]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        for row in json.loads(done.stdout)["requests"]:
            vector = vectors[row["line"] - 1]
            pointers = [one["pointer"] for one in row["findings"] if one["rule"] == vector.rule]
            found[f"{vector.rule} {vector.name}"] = pointers[0] if pointers else None
    Path(out).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def types() -> dict[str, Callable]:
    import sdk_types
    from ask_mistral_common import kind
    from google.genai.types import Content
    from mistral_common.protocol.instruct.request import ChatCompletionRequest
    from mistral_common.protocol.instruct.validator import ValidationMode, get_validator
    from mistral_common.tokens.tokenizers.base import TokenizerVersion
    from pydantic import TypeAdapter, ValidationError

    schemas, bedrock = sdk_types.schemas(), sdk_types.bedrock()
    mistral = get_validator(TokenizerVersion.v13, ValidationMode.serving)

    def of(*dialects: str) -> Callable:
        def check(messages: list, dialect: str) -> None:
            if dialect not in dialects:
                raise Skip
            if error := next(schemas[dialect].iter_errors(messages), None):
                error = telling(error)
                way = "/".join(str(step) for step in error.absolute_path if isinstance(step, str))
                raise ValueError(f"{way}: {error.validator}, {sketch(error.instance)}")

        return on_messages(check)

    def google_genai(messages: list, dialect: str) -> None:
        if dialect != "gemini":
            raise Skip
        try:
            TypeAdapter(list[Content]).validate_python(messages)
        except ValidationError as error:
            first = error.errors()[0]
            way = "/".join(step for step in first["loc"] if isinstance(step, str))
            raise ValueError(f"{way}: {first['type']}, {sketch(first['input'])}") from error

    def botocore(messages: list, dialect: str) -> None:
        if dialect != "bedrock-converse":
            raise Skip
        errors = bedrock(messages)
        if errors.has_errors():
            raise ValueError(errors.generate_report())

    def mistral_common(request: dict, dialect: str, _entry: dict) -> None:
        if dialect != "mistral":
            raise Skip
        try:
            mistral.validate_request(ChatCompletionRequest.model_validate(request))
        except Exception as error:
            raise ValueError(kind(error)) from error

    return {
        "anthropic": of("anthropic-messages"),
        "openai": of("openai-chat", "openai-responses"),
        "google-genai": on_messages(google_genai),
        "botocore": on_messages(botocore),
        "mistral_common": mistral_common,
    }


def clients() -> dict[str, Callable]:
    import tessera
    import toolrepair
    import turnsafe
    from ask_clients import langchain, langgraph, litellm

    names = {"openai-chat": "openai", "anthropic-messages": "anthropic"}

    def of_chat(check: Callable) -> Callable:
        def checked(messages: list, dialect: str) -> None:
            if dialect != "openai-chat":
                raise Skip
            check(messages)

        return on_messages(checked)

    def of_both(codes: Callable) -> Callable:
        def checked(messages: list, dialect: str) -> None:
            if dialect not in names:
                raise Skip
            if found := sorted(set(codes(messages, names[dialect]))):
                raise ValueError(", ".join(found))

        return on_messages(checked)

    def converted(messages: list) -> None:
        # Histories that LangChain cannot convert are its own matter, not that of LangGraph's check.
        try:
            langchain(messages)
        except Exception as error:
            raise Skip from error
        langgraph(messages)

    def with_turnsafe(messages: list, name: str) -> list[str]:
        try:
            return [one.code for one in turnsafe.validate(messages, name).errors]
        except TypeError as error:
            # Its error for an input of another type is a judgement, too.
            if not str(error).startswith("Expected"):
                raise
            return ["not a dict"]

    return {
        "langchain-core": of_chat(langchain),
        "langgraph-prebuilt": of_chat(converted),
        "litellm": of_chat(litellm),
        "tessera-transcript": of_both(lambda messages, name: [one.defect.value for one in tessera.inspect(messages, adapter=name).fatal]),
        "tool-call-repair": of_both(lambda messages, name: [one.code for one in toolrepair.validate(messages, format=name)]),
        "turnsafe": of_both(with_turnsafe),
    }


def telling(error):
    """Descends into the only alternative with the right type or role, because the error of a union does not tell much."""
    while error.validator in ("anyOf", "oneOf"):
        branches = {}
        for one in error.context:
            branches.setdefault(one.schema_path[0], []).append(one)
        likely = [errors for errors in branches.values() if not any(is_of_another_kind(one) for one in errors)]
        if len(likely) != 1:
            return error
        error = likely[0][0]
    return error


def sketch(value: object, depth: int = 2) -> str:
    """The JSON type of a value, with the fields of an object, so that different faults have different reasons."""
    name = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}.get(type(value), "number")
    if isinstance(value, dict) and depth:
        fields = [f"{key}={inner}" if key in ("type", "role") else f"{key} {sketch(inner, depth - 1)}" for key, inner in value.items()]
        return f"{name} of {' and '.join(sorted(fields))}"
    if isinstance(value, list) and value and depth:
        return f"{name} of {' and '.join(sorted({sketch(inner, depth) for inner in value}))}"
    return name


def is_of_another_kind(error) -> bool:
    is_at_kind = len(error.path) == 1 and error.path[-1] in ("type", "role")
    return is_at_kind and error.validator in ("const", "enum") or not error.path and error.validator == "type"


def on_messages(check: Callable) -> Callable:
    """Gives the list of messages to a validator that does not take a request."""

    def checked(request: dict, dialect: str, entry: dict) -> None:
        name = LISTS.get(dialect, "messages")
        is_inside = entry["result"] != "invalid" or (entry["place"] or "").startswith(f"/{name}/") or entry["place"] == f"/{name}"
        if not isinstance(request.get(name), list) or not is_inside:
            raise Skip
        check(json.loads(json.dumps(request[name])), dialect)

    return checked


def row(rule: dict, group: str, name: str) -> dict:
    invalid = rule["invalid"]
    crashed = [why for why in invalid if why and why.startswith(CRASHES)]
    caught = Counter(why for why in rule["caught"] if why not in crashed)
    return {
        "dialect": group,
        "rule": name,
        "valid": len(rule["valid"]),
        "accepted": rule["valid"].count(None),
        "refusals": dict(Counter(why for why in rule["valid"] if why)),
        "invalid": len(invalid),
        "missed": invalid.count(None),
        "crashed": len(crashed),
        "caught": dict(caught),
    }


def ask(group: str, places: str, out: str) -> None:
    known = json.loads(Path(places).read_text(encoding="utf-8"))
    vectors = [one._replace(entry={**one.entry, "place": known.get(f"{one.rule} {one.name}")}) for one in histories() if is_asked(one)]
    claims = {one["name"]: one for one in LISTED["validators"]}
    parts = []
    for name, check in {"types": types, "clients": clients}[group]().items():
        asked = [one for one in vectors if is_claimed(claims[name], one)]
        rows = [row(rule, *key) for key, rule in score(check, asked).items()]
        parts.append({"name": name, "version": version(name), "rows": [one for one in rows if one["valid"] + one["invalid"]]})
    Path(out).write_text(json.dumps(parts, indent=1) + "\n", encoding="utf-8")


def merge(result: str, *parts: str) -> None:
    claims = {one["name"]: one for one in LISTED["validators"]}
    rows, used = [], set()
    for part in (one for path in parts for one in json.loads(Path(path).read_text(encoding="utf-8"))):
        claim = claims.pop(part["name"])
        for one in part["rows"]:
            # A refusal for a reason that the vector is not about does not count.
            others = [why for why in one["caught"] if any(is_unrelated(entry, one["rule"], why, used) for entry in claim["unrelated"])]
            one["unrelated"] = {why: one["caught"].pop(why) for why in others}
        rows.append({key: value for key, value in claim.items() if key not in ("unrelated", "not_claimed")} | {"version": part["version"], "rows": part["rows"]})
        stale = [entry for entry in claim["unrelated"] if (entry["rule"], entry["reason"]) not in used]
        if stale:
            sys.exit(f"{part['name']}: no refusal has these reasons: {stale}")
    if claims:
        sys.exit(f"not asked: {', '.join(claims)}")
    rows.sort(key=lambda one: one["name"].lstrip("@"))
    lines = ",\n".join(as_lines(one) for one in rows)
    Path(result).write_text('{"validators": [\n' + lines + "\n]}\n", encoding="utf-8")


def is_claimed(claim: dict, vector) -> bool:
    """False for a vector of a claimed family that the validator is not meant to refuse, such as one about the place of a result."""
    return not any(fnmatch(f"{vector.rule} {vector.name}", pattern) and vector.result == "invalid" for pattern in claim["not_claimed"])


def frames() -> None:
    from botocore.eventstream import EventStreamBuffer

    checked = 0
    for vector in streams():
        wanted = [(one["kind"], one["type"], one["payload"]) for one in vector.entry.get("frames", [])]
        if wanted:
            buffer = EventStreamBuffer()
            buffer.add_data(vector.input)
            kinds = [(event.headers, json.loads(event.payload)) for event in buffer]
            found = [(head[":message-type"], head[f":{head[':message-type']}-type"], payload) for head, payload in kinds]
            if found != wanted:
                sys.exit(f"{vector.rule} {vector.name}: {found}, and not {wanted}")
            checked += 1
    print(f"{checked} streams of frames are as botocore reads them")


def is_unrelated(entry: dict, rule: str, why: str, used: set) -> bool:
    is_one = fnmatch(rule, entry["rule"]) and fnmatch(why, entry["reason"])
    if is_one:
        used.add((entry["rule"], entry["reason"]))
    return is_one


def as_lines(validator: dict) -> str:
    """One line for the validator and one for each rule, so that changes are readable."""
    head = {key: value for key, value in validator.items() if key != "rows"} | {"valid": {}}
    for one in validator["rows"]:
        accepted, valid = head["valid"].get(one["dialect"], (0, 0))
        head["valid"][one["dialect"]] = (accepted + one.pop("accepted"), valid + one.pop("valid"))
    telling = [one for one in validator["rows"] if one["invalid"] or one["refusals"]]
    rows = ",\n".join("  " + json.dumps(one, ensure_ascii=False) for one in telling)
    return json.dumps(head, ensure_ascii=False)[:-1] + ', "rows": [\n' + rows + "\n]}"


if __name__ == "__main__":
    {"places": places, "ask": ask, "merge": merge, "frames": frames}[sys.argv[1]](*sys.argv[2:])
