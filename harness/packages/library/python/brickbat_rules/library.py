"""The rules as a library, in process: no program is started."""

from __future__ import annotations

import atexit
import dataclasses
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from brickbat_rules._rules import Rules

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Dialect = Literal["anthropic-messages", "openai-chat", "openai-responses", "gemini", "bedrock-converse", "mistral"]
Kind = Literal["valid", "repairable", "unrepairable"]

# The largest history and the largest session, in bytes.
MAX_HISTORY = 8 << 20
MAX_SESSION = 64 << 20

# The strategy draws at least so many bytes. Hypothesis prefers a few, which make conversations without calls; it shrinks to zeros,
# which make the smallest one.
MIN_BYTES = 64

RULES = Rules()
# The runtime cannot free its objects after the end of the interpreter has begun.
atexit.register(RULES.close)


@dataclass(frozen=True)
class Finding:
    """A broken rule at a place in the history."""

    rule: str
    """The rule. `explain` describes it."""
    alias: str
    """The short name of the rule."""
    level: Literal["refused", "denied", "warning"]
    """`refused`, or `warning` if only older or stricter providers refuse the history."""
    pointer: str
    """The place as a JSON pointer."""
    message: str
    """The provider's error message."""
    refused_by: list[str]
    """The profiles that refuse the history because of this finding."""
    warned_by: list[str]
    """The profiles that accept it with a warning."""
    place: dict[str, int]
    """The place in the JSON text: `line`, `column`, `offset` and `length`."""
    summary: str
    """What the rule requires."""
    mend: str
    """How a history comes to break the rule, and how to repair it."""


@dataclass(frozen=True)
class Verdict:
    """What a provider would answer. It is false in a condition if the provider would refuse the history."""

    accepted: bool
    """True if the provider accepts the history."""
    dialect: str
    """The dialect."""
    profile: str
    """The profile that judged, with its date."""
    profile_by: str
    """Why this profile judged."""
    host: str | None
    """The host, if it is known."""
    model: str | None
    """The model, if it is known."""
    rules_by_model: list[str]
    """If the model is not known: the rules that were not applied in full."""
    status: int | None
    """The HTTP status of the refusal."""
    refused_by: list[str]
    """The profiles that refuse the history."""
    findings: list[Finding]
    """The first hundred findings."""
    more_findings: int
    """The number of further findings."""
    found: str | None
    """The place of the request in the given text, if that is not a request itself: a JSON pointer, or words."""
    text: str
    """The findings for people, with an excerpt of the history. Empty if there are none."""

    def __bool__(self) -> bool:
        return self.accepted


@dataclass(frozen=True)
class Repair:
    """The outcome of a repair."""

    outcome: Literal["healthy", "repaired", "beyond"]
    """`beyond` if no edit is known."""
    body: Any = None
    """The repaired history. Only for `repaired`, as are `text` and `edits`."""
    text: str | None = None
    """The same as JSON, with every other byte unchanged."""
    edits: list[dict[str, Any]] = field(default_factory=list)
    """The edits, each with `pointer`, `words`, and `loses`, which is true if it removes content."""
    reason: str | None = None
    """Why no edit is known."""
    can_truncate: bool = False
    """True if `truncate=True` helps."""


@dataclass(frozen=True)
class SessionReport:
    """The sessions in a file, as in `brickbat session --format json`."""

    sessions: list[dict[str, Any]]
    """The sessions, each with its `product` and its `verdict` on the next request."""
    unread: list[dict[str, Any]]
    """The file and the `error`, if it could not be read."""
    text: str
    """The report for people."""


@dataclass(frozen=True)
class History:
    """A conversation that `histories` made."""

    dialect: str
    model: str
    fault: str | None
    """The label of the planted fault; None for a valid conversation."""
    can_repair: bool | None
    """True if the fault has a repair that loses nothing."""
    messages: list[Any]
    """The messages, items or contents of the request. The last one is the user's."""
    body: dict[str, Any] = field(init=False, repr=False, compare=False)
    """The complete request, with the same list of messages. It is not printed."""


def check(
    history: Any,
    *,
    dialect: str | None = None,
    host: str | None = None,
    model: str | None = None,
    profile: str | None = None,
) -> Verdict:
    """Checks whether a provider would accept this history, by the rules of `brickbat check`.

    `history` is a list of messages, a request body, or either as JSON text or bytes. It can contain message objects of SDKs.
    `dialect` is required if the history does not show it. `host`, `model` and `profile` select the rules; by default they are
    the newest of the dialect. A history that cannot be judged is a `ValueError`.
    """
    asked = question("check", dialect=dialect, host=host, model=model, profile=profile)
    told = judged(RULES.ask(asked, encoded(history)))
    verdict = told["verdict"]
    fields = {name: verdict[name] for name in Verdict.__dataclass_fields__ if name in verdict}
    fields["findings"] = [
        Finding(**{name: found[name] for name in Finding.__dataclass_fields__}) for found in verdict["findings"]
    ]
    return Verdict(accepted=verdict["verdict"] == "accepted", found=told["found"], text=told["text"], **fields)


def assert_history(
    messages: Any,
    *,
    dialect: str | None = None,
    host: str | None = None,
    model: str | None = None,
    profile: str | None = None,
) -> None:
    """Raises an `AssertionError` with the report if the provider would refuse this history. The arguments are those of `check`."""
    verdict = check(messages, dialect=dialect, host=host, model=model, profile=profile)
    if not verdict:
        raise AssertionError(f"the provider would refuse this history\n{verdict.text.rstrip()}")


def repair(
    history: Any,
    *,
    dialect: str | None = None,
    host: str | None = None,
    model: str | None = None,
    profile: str | None = None,
    truncate: bool = False,
) -> Repair:
    """Finds the smallest edit after which the provider accepts a history, like `brickbat check --fix`.

    With `truncate`, if no other edit helps, the conversation ends before the refused part.
    """
    asked = question("repair", dialect=dialect, host=host, model=model, profile=profile, truncate=truncate or None)
    told = judged(RULES.ask(asked, encoded(history)))
    if "repaired" in told:
        text = told["repaired"]["text"]
        return Repair("repaired", body=json.loads(text), text=text, edits=told["repaired"]["edits"])
    if "beyond" in told:
        return Repair("beyond", **told["beyond"])
    return Repair("healthy")


def explain(text: str) -> str | None:
    """Explains a rule by its id, or the error of a provider or an SDK. None if nothing is known about it."""
    pages = RULES.ask({"ask": "explain"}, text.encode("utf-8", "replace"))["pages"]
    return "\n".join(pages) or None


def session(
    file: str | bytes, *, name: str | None = None, model: str | None = None, profile: str | None = None
) -> SessionReport:
    """Reads a session as an agent stores it, and judges the next request in it, like `brickbat session`.

    `file` is the text or the bytes of the file, and `name` its name. `model` and `profile` select the rules for stores that do
    not show them. Databases, and the files of goose, opencode and LangGraph in Redis, need the command line.
    """
    data = utf8(file) if isinstance(file, str) else bytes(file)
    if len(data) > MAX_SESSION:
        raise ValueError(f"the session has more than {MAX_SESSION} bytes; `brickbat session FILE` reads it")
    return SessionReport(**RULES.ask(question("session", name=name, model=model, profile=profile), data))


def history_of(data: bytes, dialect: str, *, kind: Kind = "valid") -> History:
    """Makes a conversation from bytes. Fewer and smaller bytes make a smaller one; no bytes make the smallest."""
    told = RULES.ask({"ask": "history", "dialect": dialect, "kind": kind}, bytes(data))
    body = told.pop("body")
    history = History(messages=body[told.pop("list")], **told)
    object.__setattr__(history, "body", body)
    return history


def histories(dialect: str, *, kind: Kind = "valid", max_bytes: int = 256) -> SearchStrategy[History]:
    """A strategy of hypothesis for conversations, valid ones or ones with one planted fault. They shrink."""
    from hypothesis import strategies

    history_of(b"", dialect, kind=kind)

    # Not `map`, for which hypothesis prints the bytes in place of the conversation.
    @strategies.composite
    def drawn(draw: Any) -> History:
        return history_of(draw(strategies.binary(min_size=min(MIN_BYTES, max_bytes), max_size=max_bytes)), dialect, kind=kind)

    return drawn()


def question(ask: str, **options: Any) -> dict[str, Any]:
    return {"ask": ask} | {name: value for name, value in options.items() if value is not None}


def judged(told: dict[str, Any]) -> dict[str, Any]:
    if "unjudged" not in told:
        return told
    unjudged = told["unjudged"]
    raise ValueError("\n  ".join([f"this history cannot be judged: {unjudged['reason']}", *unjudged["hints"]]))


def encoded(history: Any) -> bytes:
    """Returns a history as the bytes of JSON. A text or bytes are JSON already."""
    if isinstance(history, str):
        data = utf8(history)
    elif isinstance(history, (bytes, bytearray)):
        data = bytes(history)
    else:
        try:
            data = json.dumps(history, default=plain, allow_nan=False).encode()
        except (ValueError, RecursionError) as error:
            raise ValueError(f"the history is not JSON: {error}") from error
    if len(data) > MAX_HISTORY:
        words = f"the history has {len(data)} bytes, and the library takes at most {MAX_HISTORY}"
        raise ValueError(f"{words}; `brickbat check FILE` judges larger ones")
    return data


def utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        words = "the text has half of a surrogate pair, which UTF-8 does not have; in JSON, write it as an escape"
        raise ValueError(words) from error


def plain(value: Any) -> Any:
    """Converts a message object of an SDK to the JSON that its client would send."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    raise TypeError(f"a history consists of JSON messages, and {type(value).__name__} cannot be converted to JSON")
