"""Executes the `run:` steps of action.yml the way a GitHub runner does. Usage: run_action.py FOLDER ARCHIVE COMMAND"""

import os
import re
import subprocess
import sys

import yaml

folder, archive, command = sys.argv[1:]
action = yaml.safe_load(open("action.yml", encoding="utf-8"))
inputs = {name: value.get("default", "") for name, value in action["inputs"].items()}
inputs |= {"archive": archive, "run": command, "working-directory": folder}


def filled(text):
    return re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda found: inputs[found[1]], str(text))


runner = {"RUNNER_TEMP": f"{folder}/temp"}
for name, file in {"GITHUB_PATH": "path", "GITHUB_OUTPUT": "output", "GITHUB_STEP_SUMMARY": "summary"}.items():
    runner[name] = f"{folder}/{file}"
    open(runner[name], "w", encoding="utf-8").close()
os.makedirs(runner["RUNNER_TEMP"], exist_ok=True)
for step in action["runs"]["steps"]:
    added = open(runner["GITHUB_PATH"], encoding="utf-8").read().split()
    environment = {**os.environ, **runner, **{key: filled(value) for key, value in step.get("env", {}).items()}}
    environment["PATH"] = os.pathsep.join([*added, os.environ["PATH"]])
    # The shell and options of a composite action.
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(shell, env=environment, cwd=filled(step.get("working-directory", ".")), check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
