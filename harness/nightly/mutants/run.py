"""Changes the installed code of SDKs in small ways, runs the suite on each mutant, and records which ones it kills.

    python3 harness/nightly/mutants/run.py PROGRAM MODULES SCRATCH REPORT [--only SDK]… [--count N]
        [--plans N] [--seed N] [--minutes N] [--resume] [--expect REPORT]

PROGRAM is brickbat, MODULES the folder in which npm has installed the packages of `package.json`, SCRATCH a folder for the
private installations, and REPORT a JSON file with one row for each mutant. README.md explains the results.
"""
import argparse
import json
import signal
import sys
import time
from pathlib import Path

import mutants
import table
from installed import Installed
from suite import Suite
from trial import Trial, Unchanged

TARGETS = json.loads((mutants.HERE / "targets.json").read_text())


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("program", "modules", "scratch", "report"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--only", action="append", metavar="SDK", help="the name of a target; all by default")
    parser.add_argument("--count", type=int, default=40, help="executed mutants of each SDK")
    parser.add_argument("--plans", type=int, default=60, help="plans that each mutant has to pass")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the choice of mutants and plans")
    parser.add_argument("--minutes", type=float, default=600, help="start no mutant after this time")
    parser.add_argument("--expect", type=Path, metavar="REPORT", help="fail if a mutant that was killed in it is not any more")
    parser.add_argument("--resume", action="store_true", help="skip the mutants of REPORT, unless they passed fewer plans")
    given = parser.parse_args()
    for name in ("program", "modules", "scratch", "report"):
        setattr(given, name, getattr(given, name).resolve())
    return given


def key(row):
    order = [target["sdk"] for target in TARGETS]
    return order.index(row["sdk"]), row["file"], row["line"], row["column"], row["kind"], row["after"]


def read(report):
    return json.loads(report.read_text()) if report.exists() else {"schema": 1, "suites": [], "mutants": []}


def add(report, suite, row=None):
    """Adds a row at once, so that an interrupted run keeps its rows. It replaces the row of the same mutant."""
    known = read(report)
    known["suites"] = sorted([old for old in known["suites"] if old["sdk"] != suite["sdk"]] + [suite],
                             key=lambda one: one["sdk"])
    if row:
        known["mutants"] = sorted([old for old in known["mutants"] if key(old) != key(row)] + [row], key=key)
    parts = [f'  "{name}": [\n' + ",\n".join(f"    {json.dumps(one, ensure_ascii=False)}" for one in known[name]) + "\n  ]"
             for name in ("suites", "mutants")]
    report.write_text('{\n  "schema": 1,\n' + ",\n".join(parts) + "\n}\n")


def unchanged_of(suite, installed, found, given, folder):
    """The results of the unchanged system, which are kept for a run that is resumed."""
    file = folder / f"unchanged-{given.seed}-{given.plans}.json"
    if not file.exists():
        Unchanged.measured(suite, installed, found, suite.plans(given.seed), given.plans).saved(file)
    return Unchanged.read(file)


def run(target, given, until):
    sdk, folder = target["sdk"], given.scratch / target["sdk"]
    folder.mkdir(parents=True, exist_ok=True)
    installed = Installed(target, folder)
    suite = Suite(given.program, target, installed.cache, folder)
    installed.open(lambda: suite.run(suite.plans(given.seed)[:1]))
    found = [mutant for file, functions in target["files"].items()
             for mutant in mutants.of_file(file, installed.source(file), functions, target.get("quiet", []), given.modules)]
    unchanged = unchanged_of(suite, installed, found, given, folder)
    about = {"sdk": sdk, "version": target["version"], "mode": target["mode"], "dialect": target["dialect"],
             "seed": given.seed, "sites": len(found), "plans": len(unchanged.plans), "causes": len(unchanged.causes)}
    add(given.report, about)
    rows = read(given.report)["mutants"] if given.resume else []
    done = {key(row): row for row in rows if row["sdk"] == sdk and row.get("plans", given.plans) >= len(unchanged.plans)}
    n_executed = 0
    for mutant in mutants.ordered(found, f"{given.seed} {sdk}"):
        if n_executed == given.count or time.monotonic() > until:
            break
        before = installed.source(mutant.file)[mutant.start:mutant.end]
        row = {"sdk": sdk, "version": target["version"], "file": mutant.file, "line": mutant.line, "column": mutant.column,
               "kind": mutant.kind, "before": mutants.short(before), "after": mutants.short(mutant.text)}
        known = done.get(key(row))
        if known is None:
            started = time.monotonic()
            known = row | Trial(suite, installed, unchanged, mutant).result()
            add(given.report, about, known)
            print(f"{time.monotonic() - started:5.0f} s  {json.dumps(known, ensure_ascii=False)}", flush=True)
        n_executed += known["result"] != "not-reached"


def main():
    # A run that is ended ends what it has started, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    given = arguments()
    until = time.monotonic() + given.minutes * 60
    names = {target["sdk"] for target in TARGETS}
    if unknown := set(given.only or []) - names:
        raise SystemExit(f"targets.json has no {', '.join(sorted(unknown))}")
    for target in TARGETS:
        if not given.only or target["sdk"] in given.only:
            run(target, given, until)
    rows = read(given.report)["mutants"]
    print(table.of(rows, [target["sdk"] for target in TARGETS], mutants.KINDS))
    lost = missed(rows, read(given.expect)["mutants"] if given.expect else [])
    for row in lost:
        print(f"killed before: {json.dumps(row, ensure_ascii=False)}")
    return 1 if lost else 0


def missed(rows, before):
    """The rows of mutants that were killed before."""
    killed = {key(row) for row in before if row["result"] == "killed"}
    return [row for row in rows if key(row) in killed and row["result"] != "killed"]


if __name__ == "__main__":
    sys.exit(main())
