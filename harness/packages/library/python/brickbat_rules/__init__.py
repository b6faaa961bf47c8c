"""The rules of LLM providers for conversations with tools, in process and on any platform."""

from brickbat_rules._errors import BrickbatError
from brickbat_rules.library import (
    Finding,
    History,
    Repair,
    SessionReport,
    Verdict,
    assert_history,
    check,
    explain,
    histories,
    history_of,
    repair,
    session,
)

__all__ = [
    "BrickbatError",
    "Finding",
    "History",
    "Repair",
    "SessionReport",
    "Verdict",
    "assert_history",
    "check",
    "explain",
    "histories",
    "history_of",
    "repair",
    "session",
]
