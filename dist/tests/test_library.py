"""The package `brickbat-rules` in Python, as it is installed. `dist/check` runs it without a network."""

import json
import os
from pathlib import Path
from random import Random

import brickbat_rules
import pytest
from hypothesis import find, strategies as st

CALL = {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}]}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "found"}]}
ASK = {"role": "user", "content": "Look."}


def test_a_history_is_judged_explained_and_repaired():
    assert brickbat_rules.check([ASK, CALL, RESULT])
    verdict = brickbat_rules.check([ASK, CALL, ASK])
    assert not verdict and verdict.findings[0].rule == "anthropic-messages/tool-result-missing"
    assert "tool-result-missing" in brickbat_rules.explain(verdict.findings[0].message)
    repaired = brickbat_rules.repair([ASK, CALL, ASK])
    assert brickbat_rules.check(repaired.body)
    with pytest.raises(AssertionError, match="would refuse this history"):
        brickbat_rules.assert_history([ASK, CALL, ASK])


def test_a_stored_session_is_read():
    lines = "\n".join(json.dumps({"payload": message}) for message in (ASK, CALL, ASK))
    assert brickbat_rules.session(lines, name="log.jsonl").sessions[0]["verdict"] == "bricked"


def test_a_value_that_is_not_json_is_a_clear_error():
    with pytest.raises(ValueError, match="half of a surrogate pair"):
        brickbat_rules.check("\ud800")
    with pytest.raises(ValueError, match="is not JSON"):
        brickbat_rules.check([{"role": "user", "content": float("nan")}])
    with pytest.raises(ValueError, match="at most 8388608"):
        brickbat_rules.check([{"role": "user", "content": "x" * (9 << 20)}])
    with pytest.raises(TypeError, match="cannot be converted to JSON"):
        brickbat_rules.check([object()])


def test_an_orphaned_result_of_a_trimmer_is_found_and_shrinks():
    def is_refused(drawn):
        history, n = drawn
        return not brickbat_rules.check(history.messages[-n:], dialect="openai-chat")

    histories = brickbat_rules.histories("openai-chat")
    history, n = find(st.tuples(histories, st.integers(1, 6)), is_refused, random=Random(1))
    assert history.messages[-n]["role"] == "tool"
    assert sum(len(message.get("tool_calls", [])) for message in history.messages) == 1


def test_the_compiled_module_is_kept_and_a_damaged_one_is_made_again(tmp_path):
    from brickbat_rules._rules import Rules

    asked = {"ask": "explain"}
    first = Rules(cache=tmp_path).ask(asked, b"anthropic-messages/text-empty")
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(b"damaged")
    assert Rules(cache=tmp_path).ask(asked, b"anthropic-messages/text-empty") == first
    assert kept.stat().st_size > 1000
    if os.getuid() != 0:
        os.chmod(tmp_path, 0o500)
    assert Rules(cache=Path("/proc/nowhere")).ask(asked, b"anthropic-messages/text-empty") == first
