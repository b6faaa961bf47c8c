"""Scores a validator: python -m brickbat_vectors.score MODULE:FUNCTION [histories|streams|sessions]

FUNCTION gets the input, the group and the complete entry of a vector. To refuse the input, it returns False or raises an
error. It raises `Skip` for a vector that it does not judge. Any other returned value accepts the input.
"""
import importlib
import re
import sys
from collections import defaultdict
import brickbat_vectors
from brickbat_vectors import Skip

def reason(validate, vector):
    """Returns the kind of error without its values, or None if the validator accepts."""
    try:
        return "returned False" if validate(vector.input, vector.group, vector.entry) is False else None
    except Skip:
        raise
    except Exception as error:
        return re.sub(r"""'[^']*'|"[^"]*"|`[^`]*`|\d+""", "…", f"{type(error).__name__}: {error}"[:200]).split("\n")[0]

def score(validate, vectors):
    """Counts by group and rule. A refusal counts only if no valid vector of the rule is refused for the same reason."""
    rules = defaultdict(lambda: {"valid": [], "acceptable": [], "invalid": [], "skipped": 0})
    for vector in vectors:
        rule = rules[vector.group, vector.rule or "accepted-shapes"]
        try: rule[vector.result].append(reason(validate, vector))
        except Skip: rule["skipped"] += 1
    for rule in rules.values(): rule["caught"] = [why for why in rule["invalid"] if why and why not in rule["valid"]]
    return rules

if __name__ == "__main__":
    sys.path.insert(0, "")
    module, function = sys.argv[1].split(":")
    vectors = getattr(brickbat_vectors, (sys.argv[2:] or ["histories"])[0])()
    for (group, name), rule in score(getattr(importlib.import_module(module), function), vectors).items():
        accepted, caught, (valid, invalid) = rule["valid"].count(None), len(rule["caught"]), [len(rule[kind]) for kind in ("valid", "invalid")]
        text = f"{group:20} {accepted:3} of {valid:3} valid accepted, {caught:3} of {invalid:3} invalid refused, {rule['skipped']:3} skipped  {name}"
        if valid + invalid: print(text)
