"""Runs the property of the page about property tests on trimmers of others: `trimmers.py`, in a venv with them.

Each trimmer has the rule that its shortest counterexample breaks, or None if 300 conversations pass.
"""

import brickbat_rules
import turnsafe
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from langchain_core.messages import convert_to_messages, convert_to_openai_messages, trim_messages
from tessera import compact
from toolrepair import safe_trim

TOKENS_PER_MESSAGE = 20


def langchain(**options):
    def trimmed(messages, n):
        kept = trim_messages(convert_to_messages(messages), token_counter=len, max_tokens=n, **options)
        return convert_to_openai_messages(kept)

    return trimmed


def fit(messages, n):
    try:
        return turnsafe.fit(messages, n * TOKENS_PER_MESSAGE, "openai")
    except (turnsafe.ContextBudgetError, turnsafe.InvalidHistoryError):
        return []


TRIMMERS = [
    ("messages[-n:]", lambda messages, n: messages[-n:], "openai-chat/tool-message-orphan"),
    # The default strategy, without the options of its guide.
    ("langchain-core trim_messages", langchain(strategy="last"), "openai-chat/tool-message-orphan"),
    ("langchain-core trim_messages, first", langchain(strategy="first"), "openai-chat/tool-message-missing"),
    # From https://docs.langchain.com/oss/python/langchain/short-term-memory.
    ("langchain-core trim_messages, as its guide has it", langchain(strategy="last", start_on="human", end_on=("human", "tool")), None),
    ("tool-call-repair safe_trim", lambda messages, n: safe_trim(messages, keep=n, format="openai"), None),
    ("tessera compact", lambda messages, n: compact(messages, max_tokens=n * TOKENS_PER_MESSAGE, adapter="openai").transcript, None),
    ("turnsafe fit", fit, None),
]


def counterexample(trimmed):
    """The broken rule and the conversation that breaks it after the cut, as short as hypothesis finds it."""
    found = []

    @settings(max_examples=300, database=None, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(brickbat_rules.histories("openai-chat"), st.integers(1, 6))
    def is_accepted(history, n):
        left = trimmed(history.messages, n)
        assume(left)
        verdict = brickbat_rules.check(left, dialect="openai-chat")
        if not verdict:
            found[:] = [verdict.findings[0].rule, history.messages]
            raise AssertionError

    try:
        is_accepted()
    except AssertionError:
        # Hypothesis runs the shortest one last.
        return found
    return [None, []]


wrong = []
for name, trimmed, expected in TRIMMERS:
    rule, messages = counterexample(trimmed)
    n_calls = sum(len(message.get("tool_calls", [])) for message in messages)
    print(f"{name}: {f'{rule}, in a conversation of {len(messages)} messages with {n_calls} call(s)' if rule else 'passes'}")
    if rule != expected or rule and n_calls > 2:
        wrong.append(f"{name}: expected {expected} in a conversation with at most 2 calls")
if wrong:
    raise SystemExit("\n".join(wrong))
