"""The release on GitHub, the container, the tag of the Action and the formula for Homebrew."""

import base64
import json
import os
import re
import shutil
import tarfile
from pathlib import Path

from . import packages
from .formula import SYSTEMS, formula
from .shell import Failure, output, read, upload
from .source import is_newest, repository

# Docker's names of machines.
PLATFORMS = {"x86_64": "amd64", "aarch64": "arm64"}


def release(release):
    """A draft gets all files, so that no one sees a release without some of them, and is then published."""
    tag, notes = release.tag, release.work / "notes.md"
    if not notes.exists():
        raise Failure(f"{notes} is missing: run the step `notes`")
    found = None if release.dry_run else on_github(tag)
    if found is None:
        upload(release, "gh", "release", "create", tag, "--repo", repository(), "--draft", "--verify-tag", "--title", f"Brickbat {release.version}", "--notes-file", str(notes))
        found = {"isDraft": True, "assets": []}
    there = {asset["name"]: asset for asset in found["assets"]}
    waiting = []
    for name in [*packages.names(release), packages.SUMS]:
        path = release.out / name
        asset = there.get(name)
        # GitHub has computed no digest for files of some years ago.
        ours = (path.stat().st_size, f"sha256:{packages.digest(path)}")
        if asset and (asset["size"], asset.get("digest") or ours[1]) == ours:
            continue
        if asset and not found["isDraft"]:
            raise Failure(f"the published release {tag} has another {name}")
        waiting.append(str(path))
    if waiting:
        upload(release, "gh", "release", "upload", tag, "--repo", repository(), "--clobber", *waiting)
    if found["isDraft"]:
        upload(release, "gh", "release", "edit", tag, "--repo", repository(), "--draft=false", f"--latest={str(is_newest(release)).lower()}")
    return f"{len(waiting)} files" if waiting else f"{tag} has all files"


def on_github(tag):
    code, printed, complaint = read("gh", "release", "view", tag, "--repo", repository(), "--json", "isDraft,assets")
    if code != 0 and "not found" not in complaint:
        raise Failure(f"cannot ask GitHub for the release {tag}: {complaint.strip()}")
    return json.loads(printed) if code == 0 else None


def container(release):
    """One image for all Linux machines, with the binaries of the archives."""
    context = release.work / "container"
    shutil.rmtree(context, ignore_errors=True)
    platforms = []
    for (machine, _, system), path in packages.archives(release).items():
        if system == "linux" and machine in PLATFORMS:
            unpack(path, context / PLATFORMS[machine])
            platforms.append(f"linux/{PLATFORMS[machine]}")
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        shutil.copy(name, context)
    image = f"ghcr.io/{repository()}"
    names = [f"{image}:{release.version}"] + ([f"{image}:latest"] if is_newest(release) else [])
    tried = try_image(context, release) if release.dry_run else ""
    if not release.dry_run:
        log_in()
        if read("docker", "buildx", "imagetools", "inspect", names[0])[0] == 0:
            return f"{names[0]} is already there"
    tags = [part for name in names for part in ("--tag", name)]
    upload(
        release, "docker", "buildx", "build", "--file", "dist/release.Dockerfile", "--platform", ",".join(platforms),
        "--label", f"org.opencontainers.image.source=https://github.com/{repository()}", "--provenance=true", *tags, "--push", str(context),
    )  # fmt: skip
    return f"{names[0]} for {', '.join(platforms)}{tried}"


def log_in():
    user = os.environ.get("GITHUB_ACTOR", "github")
    code, _, complaint = read("docker", "login", "ghcr.io", "--username", user, "--password-stdin", text=os.environ["GH_TOKEN"])
    if code != 0:
        raise Failure(f"cannot log in to ghcr.io: {complaint.strip()}")


def unpack(path, folder):
    folder.mkdir(parents=True)
    with tarfile.open(path) as archive:
        archive.extract("./brickbat", folder, filter="data")
    (folder / "brickbat").chmod(0o755)


def try_image(context, release):
    """Follows the instructions of the Dockerfile for this machine, and runs the program in the root that they make. This is
    not a build by Docker: it only shows that the context has each file, and that the program starts with no other."""
    root = release.work / "root"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    machine = PLATFORMS.get(os.uname().machine, "amd64")
    command = None
    for line in Path("dist/release.Dockerfile").read_text().splitlines():
        word, _, rest = line.partition(" ")
        if word == "COPY":
            *sources, target = rest.replace("$TARGETARCH", machine).split()
            for source in sources:
                place = root / target.lstrip("/")
                shutil.copy(context / source, place / Path(source).name if target.endswith("/") else place)
        elif word == "ENTRYPOINT":
            command = json.loads(rest)
        elif word not in ("FROM", "ARG", "#", ""):
            raise Failure(f"dist/release.Dockerfile: cannot try {word}")
    _, headers, _ = read("readelf", "--wide", "--program-headers", f"{root}{command[0]}")
    is_static = "Program Headers" in headers and "INTERP" not in headers
    enter = ["chroot", str(root), *command] if is_static and os.geteuid() == 0 else [f"{root}{command[0]}", *command[1:]]
    printed = output(*enter, "--version").strip()
    if printed != f"brickbat {release.version}":
        raise Failure(f"the image prints {printed!r}; expected version {release.version}")
    where = "in a root with only the files of the image" if enter[0] == "chroot" else "outside of such a root"
    return f"; not built by Docker here, but `{printed}` ran {where}"


def action(release):
    """Moves the tag that workflows name, `v0` or `v1`, to this release. The newest release keeps it."""
    major = "v" + release.version.partition(".")[0]
    if not is_newest(release):
        return f"{major} stays at a newer release"
    head = output("git", "rev-parse", "HEAD").strip()
    place = f"repos/{repository()}/git"
    found = None
    if not release.dry_run:
        code, printed, complaint = read("gh", "api", f"{place}/ref/tags/{major}")
        if code != 0 and "404" not in complaint:
            raise Failure(f"cannot ask GitHub for the tag {major}: {complaint.strip()}")
        found = json.loads(printed)["object"]["sha"] if code == 0 else None
    if found == head:
        return f"{major} is already at {head[:12]}"
    if found is None:
        upload(release, "gh", "api", "--method", "POST", f"{place}/refs", "--raw-field", f"ref=refs/tags/{major}", "--raw-field", f"sha={head}")
    else:
        upload(release, "gh", "api", "--method", "PATCH", f"{place}/refs/tags/{major}", "--raw-field", f"sha={head}", "--field", "force=true")
    return f"{major} to {head[:12]}"


def homebrew(release):
    """Writes the formula, and puts it into the tap."""
    page = f"https://github.com/{repository()}/releases/download/{release.tag}/"
    archives = {(machine, system): (path.name, packages.digest(path)) for (machine, _, system), path in packages.archives(release).items() if system in SYSTEMS}
    path = release.work / "brickbat.rb"
    path.write_text(formula(release.version, page, archives))
    checked = "ruby is not here to check it"
    if shutil.which("ruby"):
        checked = output("ruby", "-wc", str(path)).strip()
    if not is_newest(release):
        return "the tap stays at a newer release"
    owner = repository().partition("/")[0]
    place = f"repos/{owner}/homebrew-tap/contents/Formula/brickbat.rb"
    fields = ["--raw-field", f"message=brickbat {release.version}", "--raw-field", f"content={base64.b64encode(path.read_bytes()).decode()}"]
    environment = None
    if not release.dry_run:
        environment = {**os.environ, "GH_TOKEN": os.environ["HOMEBREW_TAP_TOKEN"]}
        there = in_tap(place)
        if there and base64.b64decode(there["content"]) == path.read_bytes():
            return "the tap has the formula"
        if there:
            fields += ["--raw-field", f"sha={there['sha']}"]
    else:
        fields[-1] = re.sub(r"=.*", f"=the base64 of {path.name}", fields[-1])
    upload(release, "gh", "api", "--method", "PUT", place, *fields, env=environment)
    return f"{len(archives)} archives in {path.name}: {checked}"


def in_tap(place):
    code, printed, complaint = read("gh", "api", place)
    if code != 0 and "404" not in complaint:
        raise Failure(f"cannot ask GitHub for the formula: {complaint.strip()}")
    return json.loads(printed) if code == 0 else None
