"""Checks that the tree is the version of its tag, and cuts the notes from the changelog."""

import datetime
import functools
import json
import re
import tomllib
from pathlib import Path

from .shell import Failure, output, read

# Packages with a version of their own, and the folders that they contain.
OWN_VERSION = {"brickbat-adapter": ["harness/packages/kit"], "brickbat-vectors": ["harness/packages/vectors", "corpora"]}
# `dist/build` replaces it by the version of the release.
PLACEHOLDER = "0.0.0"
# A wrong version is in every manifest, and the first ones show it.
MOST_FAULTS = 12


def check(release):
    """Lists everything that keeps the tree from being released."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", release.version):
        raise Failure(f"the version is {release.version!r}; expected MAJOR.MINOR.PATCH, without the v of the tag")
    faults = [*tree(release), *changelog(release.version), *templates(), *own_versions(release), *cargo(release.version)]
    if faults:
        more = [f"and {len(faults) - MOST_FAULTS} more"] if len(faults) > MOST_FAULTS else []
        raise Failure("\n  ".join([f"{len(faults)} {'fault' if len(faults) == 1 else 'faults'} in the tree", *faults[:MOST_FAULTS], *more]))
    for line in outdated():
        print(f"  note: {line}")
    return f"the tree is clean, and is {release.tag}"


def tree(release):
    """The tree is clean, and the tag names it."""
    changed = output("git", "status", "--porcelain").splitlines()
    if changed:
        yield f"the tree is not clean: {', '.join(line[3:] for line in changed[:5])}"
    code, commit, _ = read("git", "rev-parse", "--verify", "--quiet", f"refs/tags/{release.tag}^{{commit}}")
    head = output("git", "rev-parse", "HEAD").strip()
    if code != 0:
        yield f"there is no tag {release.tag}: git tag {release.tag}"
    elif commit.strip() != head:
        yield f"the tag {release.tag} is at {commit[:12]}, but the tree is at {head[:12]}"


@functools.cache
def crates():
    """The crates of the workspace with a version of their own or the workspace's, as cargo reads them."""
    return json.loads(output("cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"))["packages"]


def published():
    """The names of the crates that are published: those without `publish = false`."""
    return [crate["name"] for crate in crates() if crate["publish"] != []]


def cargo(version):
    """Every crate, every dependency between crates and the lockfile have the version."""
    names = {crate["name"] for crate in crates()}
    for crate in crates():
        # The fuzz targets are not published and have no version.
        if crate["version"] != version and (crate["publish"] != [] or crate["version"] != PLACEHOLDER):
            yield f"{crate['name']} is {crate['version']}, not {version}: {short(crate['manifest_path'])}"
        for dependency in crate["dependencies"]:
            if dependency["name"] in names and dependency["req"] not in ("*", f"^{version}"):
                yield f"{crate['name']} asks for {dependency['name']} {dependency['req']}, not ^{version}: {short(crate['manifest_path'])}"
        if crate["publish"] != []:
            yield from (f"{crate['name']} has no {key}" for key in ("description", "license", "repository") if not crate[key])
    for package in tomllib.loads(Path("Cargo.lock").read_text())["package"]:
        if package["name"] in names and "source" not in package and package["version"] not in (version, PLACEHOLDER):
            yield f"Cargo.lock has {package['name']} {package['version']}, not {version}: cargo update --workspace"


def short(path):
    return Path(path).relative_to(Path.cwd())


def manifests():
    """The packages for npm, PyPI and crates.io that are not in the workspace: name, version and file."""
    for name in output("git", "ls-files", "harness/packages").splitlines():
        path = Path(name)
        if path.name == "package.json":
            found = json.loads(path.read_text())
        elif path.name == "pyproject.toml":
            found = tomllib.loads(path.read_text())["project"]
        elif path.name == "package.toml":
            found = tomllib.loads(path.read_text())["package"]
        else:
            continue
        yield found, path


def templates():
    """A package has the placeholder, or its own version in every language."""
    versions = {}
    for found, path in manifests():
        versions.setdefault(found["name"], {})[path] = found["version"]
        for name, asked in found.get("optionalDependencies", {}).items():
            if asked != PLACEHOLDER:
                yield f"{path} asks for {name} {asked}; dist/build replaces only {PLACEHOLDER}"
    for name, files in versions.items():
        if name in OWN_VERSION and len(set(files.values())) != 1:
            yield f"{name} has several versions: {', '.join(f'{path} {version}' for path, version in files.items())}"
        if name not in OWN_VERSION:
            yield from (f"{path} has {version}; dist/build replaces only {PLACEHOLDER}" for path, version in files.items() if version != PLACEHOLDER)


def own_versions(release):
    """A package with its own version has a new one if its files have changed since the release before. Otherwise the
    registries would keep the old files, because they have that version."""
    before = [tag for tag in tags() if number(tag) < number(release.tag)]
    if not before:
        return
    last = max(before, key=number)
    for found, path in manifests():
        code, old, _ = read("git", "show", f"{last}:{path}")
        folders = OWN_VERSION.get(found["name"])
        if not folders or code != 0 or f'"{found["version"]}"' not in old:
            continue
        if read("git", "diff", "--quiet", last, "HEAD", "--", *folders)[0] != 0:
            yield f"{found['name']} {found['version']} has changed since {last}, so it needs a new version: {path}"


def tags():
    return [tag for tag in output("git", "tag", "--list", "v*").split() if re.fullmatch(r"v\d+\.\d+\.\d+", tag)]


def number(tag):
    return tuple(int(part) for part in tag.removeprefix("v").split("."))


def is_newest(release):
    """False for a fix of an older line, which must not move the names that mean the newest version."""
    return all(number(tag) <= number(release.tag) for tag in tags())


def sections():
    """The sections of the changelog: heading and text."""
    parts = re.split(r"^## (.*)$", Path("CHANGELOG.md").read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], (part.strip() for part in parts[2::2])))


def section(version):
    """The date and text of a version's section, as far as there are any."""
    for heading, text in sections().items():
        if found := re.fullmatch(rf"\[{re.escape(version)}\](?: - (\S+))?", heading):
            return found[1], text
    return None, None


def changelog(version):
    """The version has a section with a date and entries, and none are left over."""
    date, text = section(version)
    if text is None:
        yield f"CHANGELOG.md has no section `## [{version}] - YYYY-MM-DD`"
        return
    try:
        datetime.date.fromisoformat(date or "")
    except ValueError:
        yield f"CHANGELOG.md dates {version} {date!r}; expected YYYY-MM-DD"
    if "- " not in text:
        yield f"CHANGELOG.md has no entries for {version}"
    if "- " in sections().get("[Unreleased]", ""):
        yield f"CHANGELOG.md still has entries under Unreleased; move them to {version}"


def outdated():
    """Lines of documents that the release makes wrong."""
    wrong = "not released yet|no release is published yet|nothing is published yet|until the first release|will be the first release"
    _, found, _ = read("git", "grep", "--line-number", "--extended-regexp", "--only-matching", wrong, "--", "*.md", "action.yml")
    for line in found.splitlines():
        place, number_of_line, words = line.split(":", 2)
        if place != "docs/src/reference/release.md":
            yield f"{place}:{number_of_line} says {words!r}"


def notes(release):
    """Writes the section of the changelog, and how to verify a file."""
    _, text = section(release.version)
    if not text:
        raise Failure(f"CHANGELOG.md has no section for {release.version}")
    verify = f"""## Verify a file

```sh
sha256sum --check --ignore-missing SHA256SUMS
gh attestation verify FILE --repo {repository()}
```
"""
    path = release.work / "notes.md"
    path.write_text(f"{text}\n\n{verify}")
    lines = path.read_text().splitlines()
    print("\n".join(f"  | {line[:100]}" for line in lines[:6]))
    return f"{len(lines)} lines in {path.name}"


def repository():
    """The owner and name of the repository on GitHub."""
    address = tomllib.loads(Path("Cargo.toml").read_text())["workspace"]["package"]["repository"]
    return address.removeprefix("https://github.com/")
