"""Exports findings as tests, runs them, and records what each test printed in `corpora/exports/cases.json`.

    python3 harness/nightly/exports.py target/release/brickbat SCRATCH [NAME …]

For each row of `cases.json`, runs the plan on its system, exports the finding to SCRATCH/exports and runs the test. The test
must fail and, if the row names a version with a fix, pass on that version. NAMEs select rows. Run folders that are already
in SCRATCH are reused. An export that has a folder in the corpus, as an example to read, is written there, too.
"""
import json
import shutil
import subprocess
import sys
from pathlib import Path

CORPUS = Path("corpora/exports")
CASES = CORPUS / "cases.json"


def brickbat(program, *words):
    done = subprocess.run([program, *words], capture_output=True, text=True, timeout=1800)
    return done.returncode, done.stdout, done.stderr


def line_with(word, out):
    return next((line.removeprefix(word) for line in out.splitlines() if line.startswith(word)), None)


def export(program, folder, words):
    """Exports to a new folder and runs the test there. Returns the exit code and both outputs."""
    shutil.rmtree(folder, ignore_errors=True)
    return brickbat(program, *words, "--to", str(folder))


def run_case(program, scratch, case):
    """Fills in the results of a row. Returns the reason if there are none."""
    name = case["name"]
    runs = scratch / "runs" / name
    if not runs.exists():
        brickbat(program, "run", case["plan"], "--system", case["system"], "--out", str(runs), "--quiet")
    words = ["export", case["plan"], "--out", str(runs), "--check", case["check"], "--run"]
    words += ["--as", case["as"]] if "as" in case else []
    code, out, err = export(program, scratch / "exports" / name, words)
    if code != 0:
        return f"{name}: exit {code}\n{out}{err}"
    case |= {"title": out.splitlines()[0], "red": line_with("red: ", out)}
    if (CORPUS / name).is_dir():
        shutil.rmtree(CORPUS / name)
        shutil.copytree(scratch / "exports" / name, CORPUS / name)
    if "fixed_on" in case:
        words += ["--on", case["fixed_on"]]
        code, out, err = export(program, scratch / "fixed" / name, words)
        if code != 0:
            return f"{name} on {case['fixed_on']}: exit {code}\n{out}{err}"
        case |= {"fixed_in": out.splitlines()[0].split(":")[0], "green": line_with("green: ", out)}
    return None


def main(program, scratch, *names):
    n_failed = 0
    cases = json.loads(CASES.read_text())
    if unknown := set(names) - {case["name"] for case in cases}:
        raise SystemExit(f"{CASES} has no row {', '.join(sorted(unknown))}")
    for case in cases:
        if names and case["name"] not in names:
            continue
        failure = run_case(program, Path(scratch).absolute(), case)
        if failure:
            n_failed += 1
            print(failure, flush=True)
        else:
            print(f"{case['name']}: red" + (f", green on {case['fixed_on']}" if "green" in case else ""), flush=True)
    CASES.write_text(json.dumps(cases, indent=2) + "\n")
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
