"""Drives every compactor through every cut point, and writes what came of it.

python3 harness/nightly/compactions/run.py PROGRAM FOLDER [SYSTEM...]

PROGRAM is brickbat, and FOLDER holds its reports. With SYSTEMs, only the rows of those are written again.
`docs/src/reference/compactions.md` has the table of the results.
"""
import json
import subprocess
import sys
from pathlib import Path

PROGRAM, FOLDER, *WANTED = sys.argv[1:]
HERE = Path(__file__).parent
ROOT = HERE.parents[2]
RESULTS = ROOT / "docs/data/compactions.json"
# The plans of each cut point; a history that is changed by command is cut between two turns and while tools run.
SCENARIOS = [
    "transform/full-", "transform/overflow", "transform/summarise", str(ROOT / "corpora/rounds/thirty-compactions.yaml"),
]
# Each compactor in the mode that has it, with the dialect that it is asked in.
COMPACTORS = json.loads((HERE / "compactors.json").read_text())


def run(system, dialect, scenarios=SCENARIOS):
    """The cases of one system. Those that take seconds for each process have fewer."""
    report = Path(FOLDER, system.replace("/", "_").replace("@", "_") + ".json")
    report.unlink(missing_ok=True)
    asked = [PROGRAM, "run", "--system", system, "--dialect", dialect, "--report", str(report), *scenarios]
    subprocess.run(asked, check=False, stdout=subprocess.DEVNULL)
    return json.loads(report.read_text())["cases"]


def row(case):
    """What is kept of a case: the worst that happened, and whether the history was really cut."""
    findings = case.get("findings", [])
    cuts = [receipt for receipt in case.get("receipts", []) if receipt["action"] in ("tokens", "summarise")]
    return {
        "system": case["system"],
        "plan": Path(case["plan"]).name if case["plan"].startswith("/") else case["plan"],
        "verdict": case["verdict"],
        "severities": sorted({finding["harm"] for finding in findings}),
        "cuts": sum(receipt["fired"] for receipt in cuts),
    }


kept = json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else []
for compactor in COMPACTORS:
    if WANTED and compactor["system"] not in WANTED:
        continue
    rows = [row(case) for case in run(**compactor) if "+control" not in case["plan"]]
    systems = {new["system"] for new in rows}
    kept = [old for old in kept if old["system"] not in systems] + rows
    print(compactor["system"], {verdict: sum(new["verdict"] == verdict for new in rows) for verdict in {new["verdict"] for new in rows}})
    kept.sort(key=lambda one: (one["system"], one["plan"]))
    RESULTS.write_text(json.dumps({"rows": kept}, indent=1) + "\n")
