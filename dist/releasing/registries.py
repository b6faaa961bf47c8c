"""Uploads to crates.io, npm and PyPI. Packages that a registry already has are skipped."""

import base64
import hashlib
import json
import os
import sys
import tarfile
import tempfile
from pathlib import Path

from . import packages, settings
from .shell import Failure, output, read, stream, upload
from .source import published

TWINE = "twine==6.2.0"
# It is the oldest npm that can publish with the identity of a job: https://docs.npmjs.com/trusted-publishers
OLDEST_NPM = (11, 5, 1)


def crates(release):
    """The crates of the workspace that are published, in the order that cargo finds, and the crate for adapters."""
    waiting = [name for name in published() if not on_crates_io(name, release.version)]
    done = []
    with tempfile.TemporaryDirectory() as folder:
        if waiting:
            publish(release, [part for name in waiting for part in ("--package", name)], folder)
            done += waiting
        for package in packages.crates(release):
            if on_crates_io(package.name, package.version):
                continue
            # Outside of the clone, because it is not in the workspace.
            with tarfile.open(package.path) as archive:
                archive.extractall(folder, filter="data")
            manifest = Path(folder) / package.path.name.removesuffix(".crate") / "Cargo.toml"
            publish(release, ["--manifest-path", str(manifest)], folder)
            done.append(package.name)
    return f"{len(done)} crates: {', '.join(done)}" if done else "crates.io has all crates"


def publish(release, which, folder):
    """A release first compiles the packed crates, without the token. A dry run packs them, but does not compile them."""
    locked = [] if "--manifest-path" in which else ["--locked"]
    command = ["cargo", "publish", *locked, "--target-dir", f"{folder}/target", *which]
    stream(*command, "--dry-run", *(["--no-verify"] if release.dry_run else []), env=settings.without_tokens())
    try:
        upload(release, *command, "--no-verify")
    except Failure as failure:
        if "status 429" in failure.printed:
            # https://crates.io/docs/rate-limits
            raise Failure("crates.io takes only a few new crates at once, then one in ten minutes; run this step again later") from failure
        raise


def on_crates_io(name, version):
    # In a folder without a workspace, because cargo would show the crate of the workspace.
    with tempfile.TemporaryDirectory() as folder:
        code, _, complaint = read("cargo", "info", "--quiet", "--registry", "crates-io", f"{name}@{version}", cwd=folder)
    if code != 0 and "could not find" not in complaint:
        raise Failure(f"cannot ask crates.io for {name} {version}: {complaint.strip()}")
    print(f"  {name} {version} is {'already' if code == 0 else 'not yet'} on crates.io", flush=True)
    return code == 0


def npm(release):
    """The npm packages. With the identity of a job, npm adds the provenance."""
    environment = dict(os.environ)
    if token := environment.pop("NODE_AUTH_TOKEN", None):
        environment["npm_config_//registry.npmjs.org/:_authToken"] = token
    provenance = ["--provenance"] if settings.IDENTITY in os.environ else []
    if provenance:
        version = output("npm", "--version").strip()
        if tuple(int(part) for part in version.split(".")[:3]) < OLDEST_NPM:
            raise Failure(f"npm {version} cannot publish with the identity of a job; 11.5.1 or later needed")
    done = []
    for package in packages.npm(release):
        if on_npm(package):
            continue
        command = ["npm", "publish", str(package.path), "--access", "public", *provenance]
        if release.dry_run:
            stream(*command, "--dry-run", "--loglevel=warn")
        upload(release, *command, env=environment)
        done.append(package.name)
    return f"{len(done)} packages: {', '.join(done)}" if done else "npm has all packages"


def on_npm(package):
    """True if npm has the package with the same bytes. Other bytes of one version are an error."""
    code, printed, complaint = read("npm", "view", f"{package.name}@{package.version}", "dist.integrity", "--json")
    if code != 0 and "E404" not in printed + complaint:
        raise Failure(f"cannot ask npm for {package.name} {package.version}: {complaint.strip()}")
    found = json.loads(printed or "null") if code == 0 else None
    print(f"  {package.name} {package.version} is {'already' if found else 'not yet'} on npm", flush=True)
    ours = "sha512-" + base64.b64encode(hashlib.sha512(package.path.read_bytes()).digest()).decode()
    if found and found != ours:
        raise Failure(f"npm has other bytes of {package.name} {package.version}; it needs a new version")
    return bool(found)


def pypi(release):
    """The wheels. Twine skips what PyPI already has, and uses the identity of a job if there is no token."""
    folder = Path("target/dist-work/twine").resolve()
    twine = folder / "bin/twine"
    if not twine.exists():
        output(sys.executable, "-m", "venv", str(folder))
        output(str(folder / "bin/pip"), "install", "--quiet", "--disable-pip-version-check", TWINE)
    wheels = [str(package.path) for package in packages.wheels(release)]
    stream(str(twine), "--no-color", "check", "--strict", *wheels)
    upload(release, str(twine), "--no-color", "upload", "--non-interactive", "--disable-progress-bar", "--skip-existing", *wheels)
    return f"{len(wheels)} wheels"
