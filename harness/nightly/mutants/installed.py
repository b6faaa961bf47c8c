"""A private installation of an SDK, so that its files can be changed and restored. The user's cache is not touched."""
import subprocess
from pathlib import Path

import markers


class Installed:
    """The package of a target in a cache of its own, below `folder`."""

    def __init__(self, target, folder):
        self.target, self.cache = target, folder / "cache"
        # The unchanged files. A program that was killed leaves a changed file behind, and the next one restores it.
        self.originals = folder / "originals"

    def open(self, install):
        """Installs the system with `install` if it is not there yet, and restores every file."""
        if not self.originals.is_dir():
            install()
            for file in self.target["files"]:
                kept = self.originals / file
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_bytes(self.path(file).read_bytes())
        self.restore()

    def package(self):
        found = {path.resolve() for path in self.cache.glob(f"systems/*/{self.target['package']}")}
        if len(found) != 1:
            raise LookupError(f"{self.target['package']} is in {len(found)} folders below {self.cache}, not in one")
        return found.pop()

    def path(self, file):
        return self.package() / file

    def source(self, file):
        return (self.originals / file).read_text()

    def write(self, file, text):
        """Replaces a file, and removes what Python compiled from it: it may have the same size and second."""
        path = self.path(file)
        for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
            compiled.unlink()
        new = path.with_name(f"{path.name}.new")
        new.write_text(text)
        new.replace(path)

    def restore(self):
        for file in self.target["files"]:
            self.write(file, self.source(file))

    def mark(self, file, numbers, reached):
        """Puts markers into a file that write to the file `reached`."""
        if file.endswith(".py"):
            self.write(file, markers.marked(self.source(file), numbers, markers.python))
            (self.package().parent / f"{markers.PYTHON_MODULE}.py").write_text(markers.python_module(reached))
        else:
            self.write(file, markers.marked_javascript(self.source(file), numbers, reached))

    def refused(self, file):
        """Returns what the language's own parser says against a changed file, if anything."""
        if file.endswith(".py"):
            [python] = {path for path in self.cache.glob("systems/*/.venv/bin/python")
                        if not path.parents[1].is_symlink()}
            check = [python, "-c", "import ast, sys; ast.parse(open(sys.argv[1]).read())", self.path(file)]
        else:
            check = ["node", "--check", self.path(file)]
        done = subprocess.run(check, capture_output=True, text=True)
        return done.stderr.strip() if done.returncode else None
