"""Runs third-party programs in `brickbat wrap`: stops or kills them or injects faults, resumes them, and records the verdicts.

python wrapped.py PROGRAM FOLDER REPORT [--only NAME]

PROGRAM is brickbat. FOLDER gets the programs from npm and PyPI and a home folder for each run. REPORT is a JSON file that is
replaced. The programs are not changed for Brickbat: they get only the base URL, a made-up key and a prompt.
"""
import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

PROMPT = "Look around."

# pi reads the address only from a file. The first argument here is the path of its program.
PI = """mkdir -p "$HOME/.pi/agent"
printf %s '{"providers":{"anthropic":{"baseUrl":"{url}"},"openai":{"baseUrl":"{url}/v1"}}}' >"$HOME/.pi/agent/models.json"
exec "$0" --offline "$@\""""


def pi(folder, provider, model):
    start = ["sh", "-c", PI, str(folder / "node_modules/.bin/pi"), "-p", "--provider", provider, "--model", model]
    return [*start, PROMPT], [*start, "-c", "{turn}"]


def gptme(folder):
    start = [str(folder / "bin/gptme"), "--non-interactive", "--tool-format", "tool", "-t", "shell,read",
             "-m", "anthropic/claude-haiku-4-5", "--name", "one"]
    return [*start, PROMPT], [*start, "{turn}"]


def codex(folder):
    start = [str(folder / "node_modules/.bin/codex"), "exec", "--skip-git-repo-check",
             "-c", 'openai_base_url="{url}/v1"', "-m", "gpt-5.4"]
    return [*start, PROMPT], [*start, "resume", "--last", "{turn}"]


# Each program with its registry, its package and version, and functions for its commands: the first run and the resumed one.
PROGRAMS = [
    ("pi", "npm", "@mariozechner/pi-coding-agent", "0.73.1", [
        lambda folder: pi(folder, "anthropic", "claude-haiku-4-5"), lambda folder: pi(folder, "openai", "gpt-5.4")]),
    ("gptme", "PyPI", "gptme", "0.35.1", [gptme]),
    ("Codex", "npm", "@openai/codex", "0.169.0", [codex]),
]

# Stops and kills after all calls and after the first one. Faults are injected into one longer turn.
ENDS = [("stopped", "--stop-at", "after calls"), ("stopped", "--stop-at", "after end a"),
        ("killed", "--kill-at", "after calls"), ("killed", "--kill-at", "after end a")]
FAULTS = ["--faults", "--rounds", "6", "--seed", "3"]

# Generous: a run takes seconds on an idle machine.
TIMEOUT = "20m"


def install(folder, registry, package, version):
    if folder.exists():
        return
    part = folder.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    if registry == "npm":
        part.mkdir(parents=True)
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", part, f"{package}@{version}"], check=True)
        part.rename(folder)
        return
    # A virtual environment cannot be renamed.
    try:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", f"{package}=={version}"], check=True)
    except subprocess.CalledProcessError:
        shutil.rmtree(folder)
        raise


def wrapped(program, home, options, command):
    """Runs a command in an empty home folder and returns the report of `wrap`."""
    shutil.rmtree(home, ignore_errors=True)
    (home / "work").mkdir(parents=True)
    (home / "work/orders.txt").write_text("order 1: shipped\n")
    report = home / "report.json"
    with open(home / "output", "w") as output:
        code = subprocess.run(
            [program, "wrap", "--timeout", TIMEOUT, "--report", report, *options, "--", *command], cwd=home / "work",
            env=os.environ | {"HOME": str(home)}, stdin=subprocess.DEVNULL, stdout=output, stderr=output).returncode
    if not report.exists():
        sys.exit(f"no verdict, exit code {code}: {home / 'output'}")
    return json.loads(report.read_text())


def row(report):
    state = report["state"]
    return {
        "dialect": " and ".join(sorted(state["dialects"])),
        "requests": sum(dialect["requests"] for dialect in state["dialects"].values()),
        "refused": sum(dialect["refused"] for dialect in state["dialects"].values()),
        "rules": dict(sorted(state["refusals"].items())),
        "receipts": sum(fault["receipt"] is not None for fault in report["faults"]),
        "then": [fault.get("then") for fault in report["faults"]],
        "exit_code": report["exit_code"],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("report", type=Path)
    parser.add_argument("--only", metavar="NAME")
    arguments = parser.parse_args()
    program, folder = arguments.program.resolve(), arguments.folder.resolve()
    rows = []
    for name, registry, package, version, starts in PROGRAMS:
        if arguments.only not in (None, name):
            continue
        installed = folder / f"{name}-{version}"
        install(installed, registry, package, version)
        for at, start in enumerate(starts):
            first, then = start(installed)
            runs = [(how, point, [option, point, "--resume", shlex.join(then)]) for how, option, point in ENDS]
            runs.append(("given faults", "", FAULTS))
            for how, point, options in runs:
                home = folder / "runs" / f"{name}-{at}-{how}-{point}".replace(" ", "-")
                one = {"program": name, "version": version, "from": registry, "how": how, "at": point}
                rows.append(one | row(wrapped(program, home, options, first)))
                print(json.dumps(rows[-1]), flush=True)
    lines = ",\n".join("    " + json.dumps(one) for one in rows)
    arguments.report.write_text(f'{{\n  "schema": 1,\n  "rows": [\n{lines}\n  ]\n}}\n')


main()
