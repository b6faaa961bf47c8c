"""Collects the data of the package `brickbat-vectors` from the corpora.

python pack.py CORPORA DATA           writes the folder DATA
python pack.py --since OLD NEW        compares two `index.json`, and prints the part of the version that has to grow

Histories are copied. Streams are copied too, and vectors of binary frames also get their bytes in hexadecimal. The lists of
stored sessions become JSON, because neither language reads YAML by itself. The output depends only on the corpora.
"""

import hashlib
import json
import shutil
import struct
import sys
import zlib
from pathlib import Path

HERE = Path(__file__).parent
# A different value here makes older scores incomparable, so the minor version grows. Other fields explain a vector.
JUDGED = ["name", "request", "body", "padded", "earlier", "profile", "host", "lines", "frames", "hex", "result"]


def dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def frame_bytes(frame: dict) -> bytes:
    """A message of the binary event stream that Bedrock sends.

    Source: https://smithy.io/2.0/aws/amazon-eventstream.html
    """
    payload = json.dumps(frame["payload"], ensure_ascii=False, separators=(",", ":")).encode()
    names = {":message-type": frame["kind"], f":{frame['kind']}-type": frame["type"], ":content-type": "application/json"}
    headers = b"".join(
        struct.pack(f">B{len(name)}sBH{len(value)}s", len(name), name.encode(), 7, len(value), value.encode())
        for name, value in names.items()
    )
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + payload
    return message + struct.pack(">I", zlib.crc32(message))


def files_of_vectors(corpora: Path, kind: str) -> dict[str, str]:
    files = {}
    for path in sorted((corpora / kind).glob("*/*.json")):
        text = path.read_text(encoding="utf-8")
        file = json.loads(text)
        framed = [vector for vector in file["vectors"] if "frames" in vector]
        for vector in framed:
            vector["hex"] = b"".join(map(frame_bytes, vector["frames"])).hex()
        files[f"{kind}/{path.parent.name}/{path.name}"] = dumped(file) if framed else text
    return files


def sessions(corpora: Path) -> dict[str, str | Path]:
    import yaml

    files = {}
    for path in sorted((corpora / "sessions").glob("*/*")):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            name = file.relative_to(corpora).as_posix()
            if file.name == "entries.yaml":
                files[name[: -len("yaml")] + "json"] = dumped(yaml.safe_load(file.read_text(encoding="utf-8")))
            elif file.is_file():
                files[name] = file
    return files


def digest(values: dict) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def index(files: dict[str, bytes]) -> dict:
    """Counts, and digests of the values that decide a score and of the complete data."""
    counts, judged = {"histories": {}, "streams": {}, "sessions": {}}, {}
    for name, data in files.items():
        kind, group, *rest = name.split("/")
        if kind in ("histories", "streams"):
            vectors = json.loads(data)["vectors"]
            counts[kind][group] = counts[kind].get(group, 0) + len(vectors)
            judged[name] = [{key: vector[key] for key in JUDGED if key in vector} for vector in vectors]
        elif kind == "sessions" and rest == ["entries.json"]:
            entries = json.loads(data)["sessions"]
            counts[kind][group] = len(entries)
            judged[name] = {name: entry["expect"] for name, entry in entries.items()}
        elif kind == "sessions":
            judged[name] = hashlib.sha256(data).hexdigest()
    everything = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    return {"schema": 1, "counts": counts, "digests": {"judged": digest(judged), "data": digest(everything)}}


def pack(corpora: Path, out: Path) -> None:
    found = files_of_vectors(corpora, "histories") | files_of_vectors(corpora, "streams") | sessions(corpora)
    found["schemas/histories.schema.json"] = corpora / "histories" / "vector.schema.json"
    for kind in ("streams", "sessions"):
        found[f"schemas/{kind}.schema.json"] = HERE / "schemas" / f"{kind}.schema.json"
    files = {name: data.encode() if isinstance(data, str) else data.read_bytes() for name, data in found.items()}
    shutil.rmtree(out, ignore_errors=True)
    for name, data in (files | {"index.json": dumped(index(files)).encode()}).items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(data)


def since(old: Path, new: Path) -> str:
    before, after = (json.loads(path.read_text(encoding="utf-8")) for path in (old, new))
    if before["schema"] != after["schema"]:
        return "major"
    parts = {"judged": "minor", "data": "patch"}
    return next((part for name, part in parts.items() if before["digests"][name] != after["digests"][name]), "none")


if __name__ == "__main__":
    if sys.argv[1] == "--since":
        print(since(Path(sys.argv[2]), Path(sys.argv[3])))
    else:
        pack(Path(sys.argv[1]), Path(sys.argv[2]))
