"""Compares the package for Python with the command line: `vectors.py EXPECTED.json`. `vectors.mjs` writes that file."""

import dataclasses
import json
import sys
from pathlib import Path

import brickbat_rules as brickbat

expected = json.loads(Path(sys.argv[1]).read_text())
n_refused = n_repaired = 0
for vector in expected["vectors"]:
    name, text, profile, verdict = (vector[field] for field in ("name", "text", "profile", "verdict"))
    if verdict["verdict"] == "unjudged":
        try:
            found = brickbat.check(text, profile=profile)
        except ValueError as error:
            assert "cannot be judged" in str(error), (name, error)
            continue
        raise AssertionError((name, found))
    own = dataclasses.asdict(brickbat.check(text, profile=profile))
    own["verdict"] = "accepted" if own.pop("accepted") else "refused"
    own.pop("found")
    assert (own.pop("text") == "") == (own["findings"] == []), name
    assert own == verdict, (name, own, verdict)
    n_refused += own["verdict"] == "refused"
    repaired = brickbat.repair(text, profile=profile)
    assert repaired.text == vector["fixed"], (name, repaired)
    n_repaired += repaired.text is not None
assert n_refused > 500 and n_repaired > 200, (n_refused, n_repaired)
for stored in expected["sessions"]:
    path = Path(stored["path"])
    own = brickbat.session(path.read_bytes(), name=path.name)
    plain = [{name: value for name, value in one.items() if name not in ("file", "id")} for one in own.sessions]
    assert plain == stored["sessions"], path
    assert len(own.unread) == len(stored["unread"]), path
print(
    f"{len(expected['vectors'])} vectors: {n_refused} refused, {n_repaired} repaired; {len(expected['sessions'])} sessions; "
    "as on the command line"
)
