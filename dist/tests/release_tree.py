"""A small tree with a release, and programs that play the registries, for test_release.py."""

import base64
import csv
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VERSION = "0.1.0"
TOKENS = {"CARGO_REGISTRY_TOKEN": "c", "NODE_AUTH_TOKEN": "n", "TWINE_PASSWORD": "t", "GH_TOKEN": "g", "HOMEBREW_TAP_TOKEN": "h"}

# Plays cargo, npm, twine, gh and docker. It writes each command to a log, and keeps what was uploaded in a folder.
# BREAK is a regular expression: an upload that it matches fails.
PROGRAMS = r'''
import base64, hashlib, json, os, re, sys
name, words = os.path.basename(sys.argv[0]), sys.argv[1:]
line = " ".join([name, *words])
if name == "cargo" and words[0] == "metadata":
    os.execv(os.environ["REAL_CARGO"], ["cargo", *words])
open(os.environ["LOG"], "a").write(line + "\n")
state = os.environ["STATE"]
def path(key): return os.path.join(state, re.sub(r"[^\w.-]", "_", key))
def has(key): return os.path.exists(path(key))
def put(key, text=""):
    if os.environ.get("BREAK") and re.search(os.environ["BREAK"], line):
        sys.exit(os.environ.get("SAYS", "the registry is down"))
    open(path(key), "w").write(text)
def lacks(text):
    print(text, file=sys.stderr)
    sys.exit(1)
def integrity(file): return "sha512-" + base64.b64encode(hashlib.sha512(open(file, "rb").read()).digest()).decode()
dry = "--dry-run" in words
if name == "cargo" and words[0] == "info":
    has("crate " + words[-1]) or lacks("error: could not find `x` in registry `y`")
elif name == "cargo" and dry:
    assert "CARGO_REGISTRY_TOKEN" not in os.environ
elif name == "cargo":
    assert "--no-verify" in words
    crates = [words[i + 1] for i, word in enumerate(words) if word == "--package"]
    for crate in crates or ["brickbat-adapter"]:
        put(f"crate {crate}@" + ("1.0.0" if crate == "brickbat-adapter" else "0.1.0"))
elif name == "npm" and words[0] == "view":
    has("npm " + words[1]) or lacks("npm error code E404")
    print(open(path("npm " + words[1])).read())
elif name == "npm" and words[0] == "publish" and not dry:
    import tarfile
    sheet = json.load(tarfile.open(words[1]).extractfile("package/package.json"))
    assert os.environ["npm_config_//registry.npmjs.org/:_authToken"] == "n"
    put(f"npm {sheet['name']}@{sheet['version']}", json.dumps(integrity(words[1])))
elif name == "twine" and "upload" in words:
    put("twine")
elif name == "gh" and words[:2] == ["release", "view"]:
    has("release") or lacks("release not found")
    print(open(path("release")).read())
elif name == "gh" and words[:2] == ["release", "create"]:
    put("release", json.dumps({"isDraft": True, "assets": []}))
elif name == "gh" and words[:2] == ["release", "upload"]:
    found = json.load(open(path("release")))
    for file in words[words.index("--clobber") + 1:]:
        data = open(file, "rb").read()
        found["assets"].append({"name": os.path.basename(file), "size": len(data), "digest": "sha256:" + hashlib.sha256(data).hexdigest()})
    put("release", json.dumps(found))
elif name == "gh" and words[:2] == ["release", "edit"]:
    put("release", json.dumps({**json.load(open(path("release"))), "isDraft": False}))
elif name == "gh" and words[0] == "api":
    fields = dict(word.split("=", 1) for word in words if "=" in word)
    if "--method" not in words:
        has(words[1]) or lacks("gh: Not Found (HTTP 404)")
        print(open(path(words[1])).read())
    elif words[2] == "PUT":
        assert os.environ["GH_TOKEN"] == "h"
        put(words[3], json.dumps({"content": fields["content"], "sha": "1"}))
    else:
        put(words[3].replace("refs/tags", "ref/tags") if words[2] == "PATCH" else words[3][:-1] + "/tags/v0", json.dumps({"object": {"sha": fields["sha"]}}))
elif name == "docker" and words[:2] == ["buildx", "imagetools"]:
    has("image " + words[3]) or lacks("not found")
elif name == "docker" and words[:2] == ["buildx", "build"]:
    put("image " + words[words.index("--tag") + 1])
'''


class Tree:
    """A clone of a made-up project with the release scripts of this repository."""

    # The first tree, which the others copy.
    first = None

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp())
        self.tree, self.log, self.state = self.folder / "tree", self.folder / "log", self.folder / "state"
        self.out = self.tree / "target/dist"
        programs = self.folder / "bin"
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("ACTIONS_", "GITHUB_", "GH_"))},
            "PATH": f"{programs}:{os.environ['PATH']}", "LOG": str(self.log), "STATE": str(self.state),
            "REAL_CARGO": shutil.which("cargo"), "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        if Tree.first is None:
            Tree.first = tempfile.TemporaryDirectory()
            self.fill(programs)
            shutil.copytree(self.folder, Tree.first.name, dirs_exist_ok=True)
        else:
            shutil.copytree(Tree.first.name, self.folder, dirs_exist_ok=True)

    def fill(self, programs):
        self.state.mkdir()
        self.log.touch()
        for path in [*(programs / name for name in ("cargo", "npm", "gh", "docker")), self.tree / "target/dist-work/twine/bin/twine"]:
            self.write(path, f"#!{sys.executable}\n{PROGRAMS}")
            path.chmod(0o755)
        self.sources()
        self.commit("Release 0.1.0", "v0.1.0")
        self.packages()

    def sources(self):
        for name in ("dist/release", "dist/releasing", "dist/release.Dockerfile", "action.yml", "LICENSE-MIT", "LICENSE-APACHE"):
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, self.tree / name)
        shutil.rmtree(self.tree / "dist/releasing/__pycache__", ignore_errors=True)
        binstall = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]["metadata"]["binstall"]
        tables = {"": {key: value for key, value in binstall.items() if isinstance(value, str)}}
        tables |= {f".overrides.{target}": keys for target, keys in binstall.get("overrides", {}).items()}
        metadata = "\n".join(f"[package.metadata.binstall{name}]\n" + "\n".join(f'{key} = "{value}"' for key, value in keys.items()) for name, keys in tables.items())
        self.write("Cargo.toml", f'''[workspace]
members = [".", "harness/rules"]
[workspace.package]
repository = "https://github.com/brickbat/brickbat"
[package]
name = "brickbat"
version = "{VERSION}"
publish = false
[dependencies]
brickbat-rules = {{ path = "harness/rules", version = "{VERSION}" }}
{metadata}
''')  # fmt: skip
        self.write("src/lib.rs", "")
        self.write("harness/rules/src/lib.rs", "")
        self.write("harness/rules/Cargo.toml", f'[package]\nname = "brickbat-rules"\nversion = "{VERSION}"\ndescription = "d"\nlicense = "MIT"\nrepository = "r"\n')
        self.write("harness/packages/npm/package.json", '{"name": "brickbat", "version": "0.0.0", "optionalDependencies": {"@brickbat/linux-x64": "0.0.0"}}')
        self.write("harness/packages/kit/javascript/package.json", '{"name": "brickbat-adapter", "version": "1.0.0"}')
        self.write("harness/packages/kit/rust/package.toml", '[package]\nname = "brickbat-adapter"\nversion = "1.0.0"\n')
        self.write("CHANGELOG.md", f"# Changelog\n\n## [Unreleased]\n\n## [{VERSION}] - 2026-12-01\n\n### Added\n\n- Everything.\n")
        self.write(".gitignore", "target\n")
        for name in ("build", "check"):
            self.write(f"dist/{name}", f"#!/bin/sh\necho made-up {name} $@\n")
            (self.tree / "dist" / name).chmod(0o755)
        # The lockfile of a workspace without dependencies.
        subprocess.run([self.environment["REAL_CARGO"], "generate-lockfile", "--offline", "--quiet"], cwd=self.tree, check=True)
        self.git("init", "--quiet")

    def write(self, name, text):
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def edit(self, name, old, new):
        text = (self.tree / name).read_text()
        assert old in text, (name, old)
        self.write(name, text.replace(old, new))

    def git(self, *words):
        return subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *words], cwd=self.tree, check=True, capture_output=True, text=True).stdout

    def commit(self, title, tag=None):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", title)
        if tag:
            self.git("tag", "--force", tag)

    def run(self, *words, **environment):
        """Runs the script and returns its exit code and everything that it printed."""
        done = subprocess.run(
            [self.tree / "dist/release", *words], env={**self.environment, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        return done.returncode, done.stdout

    def uploads(self):
        """The commands in the log that change a registry, without those of dry runs."""
        asks = r"cargo info|npm view|npm --version|twine .*check|gh release view|gh api repos\S+$|docker login|docker buildx imagetools|--dry-run"
        return [line for line in self.log.read_text().splitlines() if not re.search(asks, line)]

    def packages(self, version=VERSION):
        """Writes what `dist/build` would write, in small."""
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)
        program = f"#!/bin/sh\necho brickbat {version}\n"
        for machine in ("x86_64-unknown-linux", "aarch64-unknown-linux"):
            self.tar(f"brickbat-{version}-{machine}.tar.gz", {"./brickbat": program})
        self.tar(f"brickbat-linux-x64-{version}.tgz", {"package/package.json": json.dumps({"name": "@brickbat/linux-x64", "version": version})})
        main = {"name": "brickbat", "version": version, "optionalDependencies": {"@brickbat/linux-x64": version}}
        self.tar(f"brickbat-{version}.tgz", {"package/package.json": json.dumps(main)})
        self.tar("brickbat-adapter-1.0.0.crate", {"brickbat-adapter-1.0.0/Cargo.toml": '[package]\nname = "brickbat-adapter"\nversion = "1.0.0"\n'})
        self.wheel(f"brickbat-{version}-py3-none-any.whl", {"brickbat/__init__.py": "", f"brickbat-{version}.dist-info/METADATA": f"Name: brickbat\nVersion: {version}\n"})
        self.bill(version)
        self.sums()

    def tar(self, name, files):
        content = io.BytesIO()
        with tarfile.open(fileobj=content, mode="w") as archive:
            for path, text in files.items():
                info = tarfile.TarInfo(path)
                info.size = len(text)
                archive.addfile(info, io.BytesIO(text.encode()))
        (self.out / name).write_bytes(gzip.compress(content.getvalue(), mtime=0))

    def wheel(self, name, files, record=None):
        rows = io.StringIO()
        for path, text in (record or files).items():
            csv.writer(rows).writerow([path, "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("="), len(text)])
        with zipfile.ZipFile(self.out / name, "w") as archive:
            for path, text in {**files, f"{'-'.join(name.split('-')[:2])}.dist-info/RECORD": rows.getvalue()}.items():
                archive.writestr(path, text)

    def bill(self, version):
        """As many components as a bill needs, in the lockfile too."""
        crates = [{"name": f"made-up-{n}", "version": "1.0.0"} for n in range(60)]
        lock = (self.tree / "Cargo.lock").read_text()
        if "made-up-0" not in lock:
            entries = "".join(f'\n[[package]]\nname = "{crate["name"]}"\nversion = "1.0.0"\nsource = "registry+x"\n' for crate in crates)
            self.write("Cargo.lock", lock + entries)
            self.commit("Lock", "v0.1.0")
        bill = {"bomFormat": "CycloneDX", "specVersion": "1.5", "serialNumber": "urn:uuid:1", "metadata": {"component": {"name": "brickbat", "version": version}}, "components": crates}
        (self.out / f"brickbat-{version}.cdx.json").write_text(json.dumps(bill))

    def sums(self):
        lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(self.out.iterdir()) if path.name != "SHA256SUMS"]
        (self.out / "SHA256SUMS").write_text("".join(lines))

    def close(self):
        shutil.rmtree(self.folder)
