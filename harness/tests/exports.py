"""Makes and runs the exports of `corpora/exports`, and writes the result of each test to its `result.json`.

    python3 harness/tests/exports.py target/release/brickbat scratch [NAME …]

For each row of `cases.json`, runs the plan on its system, exports the finding and runs the test. The test must fail and, if
there is a version with a fix, pass on that version. With NAMEs, only those rows are made.
Existing run folders in the scratch folder are reused.
"""
import json
import shutil
import subprocess
import sys
from pathlib import Path

CORPUS = Path("corpora/exports")
FIELDS = ["name", "system", "plan", "check"]


def brickbat(program, *words):
    done = subprocess.run([program, *words], capture_output=True, text=True, timeout=1800)
    return done.returncode, done.stdout, done.stderr


def line_with(word, out):
    return next((line.removeprefix(word) for line in out.splitlines() if line.startswith(word)), None)


def made(program, scratch, case):
    """Returns the result of a row, or the reason why there is none."""
    runs = scratch / "runs" / case["name"]
    of = ["--system", case["system"], "--out", str(runs), "--quiet"]
    if not runs.exists():
        brickbat(program, "run", case["plan"], *of)
    folder = CORPUS / case["name"]
    shutil.rmtree(folder, ignore_errors=True)
    words = ["export", case["plan"], "--out", str(runs), "--check", case["check"], "--run"]
    words += ["--as", case["as"]] if "as" in case else []
    code, out, err = brickbat(program, *words, "--to", str(folder))
    if code != 0:
        return None, f"{case['name']}: exit {code}\n{out}{err}"
    row = {field: case[field] for field in FIELDS}
    row |= {"title": out.splitlines()[0], "red": line_with("red: ", out)}
    if "mended" in case:
        shutil.rmtree(scratch / "fixed" / case["name"], ignore_errors=True)
        code, out, err = brickbat(program, *words, "--on", case["mended"], "--to", str(scratch / "fixed" / case["name"]))
        if code != 0:
            return None, f"{case['name']} on {case['mended']}: exit {code}\n{out}{err}"
        row |= {"mended": out.splitlines()[0].split(":")[0], "green": line_with("green: ", out)}
    return row, None


def main(program, scratch, *names):
    n_failed = 0
    cases = json.loads((CORPUS / "cases.json").read_text())
    if unknown := set(names) - {case["name"] for case in cases}:
        raise SystemExit(f"{CORPUS}/cases.json has no row {', '.join(sorted(unknown))}")
    for case in cases:
        if names and case["name"] not in names:
            continue
        row, failure = made(program, Path(scratch).absolute(), case)
        if failure:
            n_failed += 1
            print(failure, flush=True)
        else:
            (CORPUS / case["name"] / "result.json").write_text(json.dumps(row, indent=2) + "\n")
            print(f"{case['name']}: red" + (f", green on {case['mended']}" if "green" in row else ""), flush=True)
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
