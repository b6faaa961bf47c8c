"""The release that the steps share, and the commands that they run."""

import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path


class Failure(Exception):
    """Ends a release: the text has the reason and the fix."""

    # The output of the command that failed, if it was printed before.
    printed = ""


@dataclass(frozen=True)
class Release:
    """A version, the folder with its packages, and the way in which it is released."""

    version: str
    out: Path
    dry_run: bool
    built: bool
    binary: str | None

    @property
    def tag(self):
        return f"v{self.version}"

    @property
    def work(self):
        """The folder for notes, formula and container, next to the packages."""
        folder = self.out.parent / f"{self.out.name}-release"
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def read(*command, cwd=None, text=None):
    """Runs a command and returns its exit code, standard output and standard error."""
    try:
        done = subprocess.run(command, cwd=cwd, input=text, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise Failure(f"cannot start {command[0]}: it is not installed") from error
    return done.returncode, done.stdout, done.stderr


def output(*command):
    """Runs a command that must succeed, and returns its standard output."""
    code, printed, complaint = read(*command)
    if code != 0:
        raise Failure(f"{shlex.join(command)}: exit code {code}\n{(complaint or printed).strip()}")
    return printed


def stream(*command, env=None):
    """Runs a command that must succeed, and prints its output as it comes."""
    printed = []
    print(f"  $ {shlex.join(command)}", flush=True)
    try:
        process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    except FileNotFoundError as error:
        raise Failure(f"cannot start {command[0]}: it is not installed") from error
    for line in process.stdout:
        print(f"  {line.rstrip()}", flush=True)
        printed.append(line)
    if process.wait() != 0:
        failure = Failure(f"{Path(command[0]).name} ended with exit code {process.returncode}")
        failure.printed = "".join(printed)
        raise failure


def upload(release, *command, env=None):
    """Runs a command that uploads something. A dry run only prints it."""
    if release.dry_run:
        print(f"  would run: {shlex.join(command)}", flush=True)
    else:
        stream(*command, env=env)
