"""Reads the packages that `dist/build` wrote, whatever they are: their names and kinds come from the files."""

import base64
import csv
import gzip
import hashlib
import io
import json
import re
import tarfile
import tomllib
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from .shell import Failure, output
from .source import OWN_VERSION, repository

SUMS = "SHA256SUMS"
# The largest files that the registries accept: https://pypi.org/help/#file-size-limit and
# https://doc.rust-lang.org/cargo/reference/publishing.html
LARGEST = {".whl": 100 * 2**20, ".crate": 10 * 2**20}
# A bill with fewer components lacks most dependencies.
FEWEST_COMPONENTS = 50


@dataclass(frozen=True)
class Package:
    """A package for npm, PyPI or crates.io, as it describes itself."""

    name: str
    version: str
    path: Path
    # The versions of the packages that it installs as the binary of a machine.
    machines: dict


def names(release):
    """The names of all files to release, except for the list of checksums."""
    if not release.out.is_dir():
        raise Failure(f"there is no folder {release.out}: run the step `build`")
    return sorted(path.name for path in release.out.iterdir() if path.name != SUMS)


def files(release, ending):
    return [release.out / name for name in names(release) if name.endswith(ending)]


def archives(release):
    """The archives with a binary, by architecture, vendor and operating system."""
    pattern = re.compile(rf"brickbat-{re.escape(release.version)}-(\w+)-(\w+)-(\w+)\.(?:tar\.gz|zip)")
    return {match.groups(): release.out / name for name in names(release) if (match := pattern.fullmatch(name))}


def npm(release):
    """The npm packages, those of single machines first, because the others install them."""
    found = []
    for path in files(release, ".tgz"):
        sheet = member(path, "package/package.json", json.loads)
        found.append(Package(sheet["name"], sheet["version"], path, sheet.get("optionalDependencies", {})))
    return sorted(found, key=lambda package: (bool(package.machines), package.name))


def wheels(release):
    return [wheel(path) for path in files(release, ".whl")]


def crates(release):
    found = []
    for path in files(release, ".crate"):
        sheet = member(path, f"{path.name.removesuffix('.crate')}/Cargo.toml", tomllib.loads)["package"]
        found.append(Package(sheet["name"], sheet["version"], path, {}))
    return found


def member(path, name, parsed):
    """A parsed file of a compressed archive. The archive is read to its end, which verifies its checksum."""
    try:
        with gzip.open(path) as packed:
            content = io.BytesIO(packed.read())
        with tarfile.open(fileobj=content) as archive:
            return parsed(archive.extractfile(name).read().decode())
    except (OSError, EOFError, KeyError, ValueError, zlib.error, tarfile.TarError) as error:
        raise Failure(f"{path.name} is broken: {error}") from error


def wheel(path):
    """A wheel with the files that its record lists: https://packaging.python.org/en/latest/specifications/recording-installed-packages/"""
    try:
        with zipfile.ZipFile(path) as archive:
            content = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise Failure(f"{path.name} is broken: {error}") from error
    record = next((name for name in content if name.endswith(".dist-info/RECORD")), None)
    if record is None:
        raise Failure(f"{path.name} has no record of its files")
    rows = {row[0]: row[1] for row in csv.reader(content[record].decode().splitlines()) if row}
    for name, data in content.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        if name != record and rows.get(name) != f"sha256={digest}":
            raise Failure(f"{path.name}: {name} is not the file in the record of the wheel")
    if lost := [name for name in rows if name not in content]:
        raise Failure(f"{path.name} lacks {', '.join(lost[:3])}")
    metadata = content.get(record.replace("RECORD", "METADATA"), b"").decode()
    fields = dict(re.findall(r"^(Name|Version): (.*)$", metadata, re.MULTILINE))
    if len(fields) != 2:
        raise Failure(f"{path.name} has no name or no version")
    return Package(fields["Name"], fields["Version"], path, {})


def inspect(release):
    """Checks that the packages fit together and to the version."""
    kinds = {"npm": npm(release), "PyPI": wheels(release), "crates.io": crates(release)}
    versions = {}
    for registry, found in kinds.items():
        for package in found:
            versions.setdefault(package.name, set()).add(package.version)
            if package.name not in OWN_VERSION and package.version != release.version:
                raise Failure(f"{package.path.name} is version {package.version}; expected {release.version}")
        print(f"  {registry}: {', '.join(f'{package.name} {package.version}' for package in found) or 'none'}")
    if several := [name for name, found in versions.items() if len(found) > 1]:
        raise Failure(f"several versions of {', '.join(several)}")
    for path in files(release, ".deb"):
        facts = output("dpkg-deb", "--field", str(path), "Package", "Version", "Architecture").split()
        print(f"  dpkg: {' '.join(facts[1::2])}")
        if facts[3] != release.version:
            raise Failure(f"{path.name} is version {facts[3]}; expected {release.version}")
    for path in release.out.iterdir():
        if path.stat().st_size > LARGEST.get(path.suffix, 2**31):
            raise Failure(f"{path.name} has {path.stat().st_size} bytes, more than its registry accepts")
    machines(release, kinds["npm"])
    addresses(release)
    return f"{len(names(release))} files, {len(archives(release))} of them archives with a binary"


def machines(release, found):
    """Each package of a single machine that a package installs was built."""
    built = {package.name: package.version for package in found}
    for package in found:
        for name, version in package.machines.items():
            if built.get(name) == version:
                continue
            lack = f"{package.name} installs {name} {version}, which was not built"
            if not release.dry_run:
                raise Failure(lack)
            print(f"  note: {lack}; a release needs it")


def addresses(release):
    """The addresses from which cargo-binstall and the Action download are those of archives."""
    sheet = tomllib.loads(Path("Cargo.toml").read_text())["package"]["metadata"]["binstall"]
    action = Path("action.yml").read_text()
    page = f"https://github.com/{repository()}/releases/download/{release.tag}/"
    if not archives(release):
        raise Failure(f"{release.out} has no archive of version {release.version}")
    for (arch, vendor, system), path in archives(release).items():
        address = binstall_address(sheet, release.version, arch, vendor, system)
        if address != page + path.name:
            raise Failure(f"cargo-binstall would download {address}; expected {page}{path.name}")
        if system == "linux" and not all(part in action for part in (f"machine={arch}", "brickbat-$VERSION-$machine-unknown-linux.tar.gz")):
            raise Failure(f"action.yml does not download {path.name}")
    print(f"  cargo-binstall and the Action download from {page}")


def binstall_address(sheet, version, arch, vendor, system):
    """Fills in the address as https://github.com/cargo-bins/cargo-binstall/blob/main/SUPPORT.md describes."""
    key = f"{arch}-{vendor}-{system}"
    for target, override in sheet.get("overrides", {}).items():
        if target == key or target.startswith(f"{key}-"):
            sheet = {**sheet, **override}
    values = {
        "repo": f"https://github.com/{repository()}",
        "name": "brickbat",
        "version": version,
        "target-arch": arch,
        "target-vendor": vendor,
        # cargo-binstall calls the operating system so.
        "target-family": system,
        "archive-suffix": {"tgz": ".tar.gz", "zip": ".zip"}[sheet["pkg-fmt"]],
    }
    return re.sub(r"\{ ?([a-z-]+) ?\}", lambda found: values[found[1]], sheet["pkg-url"])


def checksums(release):
    """The list names exactly the files of the folder, with their checksums."""
    path = release.out / SUMS
    if not path.exists() or path.stat().st_size == 0:
        raise Failure(f"{path} is missing or empty: the build did not finish")
    listed = {}
    for line in path.read_text().splitlines():
        checksum, name = line.split(maxsplit=1)
        listed[name.removeprefix("*")] = checksum
    if listed.keys() != set(names(release)):
        raise Failure(f"{SUMS} and the folder differ in {', '.join(sorted(listed.keys() ^ set(names(release))))}")
    for name, checksum in listed.items():
        if digest(release.out / name) != checksum:
            raise Failure(f"{name} has another checksum than in {SUMS}")
    return f"{len(listed)} checksums are right"


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def bill_of_materials(release):
    """The bill is one of this version, and lists crates of the lockfile."""
    found = files(release, ".cdx.json")
    if len(found) != 1:
        raise Failure(f"{len(found)} bills of materials; expected one: dist/build bom")
    try:
        bill = json.loads(found[0].read_text())
        component = bill["metadata"]["component"]
        listed = {(part["name"], part["version"]) for part in bill["components"]}
        # GitHub signs only bills with these three fields.
        form = [bill[key] for key in ("bomFormat", "specVersion", "serialNumber")]
    except (ValueError, KeyError) as error:
        raise Failure(f"{found[0].name} is not a bill in CycloneDX: {error!r}") from error
    if (component["name"], component["version"]) != ("brickbat", release.version):
        raise Failure(f"{found[0].name} is of {component['name']} {component['version']}; expected brickbat {release.version}")
    locked = {(package["name"], package["version"]) for package in tomllib.loads(Path("Cargo.lock").read_text())["package"]}
    if unknown := listed - locked:
        raise Failure(f"{found[0].name} lists what Cargo.lock does not have: {sorted(unknown)[:3]}")
    if len(listed) < FEWEST_COMPONENTS:
        raise Failure(f"{found[0].name} has only {len(listed)} components")
    return f"{form[0]} {form[1]} with {len(listed)} components"
