"""Makes a bill of materials reproducible. Usage: bom.py FILE

cargo-cyclonedx writes a random serial number, the time of day and the folder of the clone. This script sets the time to
SOURCE_DATE_EPOCH and the folder to /brickbat, as in the binaries, and computes the number from the rest of the bill.
The number stays because GitHub signs no bill without one: https://github.com/actions/attest/blob/main/src/sbom.ts
"""

import json
import os
import sys
import uuid
from datetime import datetime, timezone

ROOT = "path+file:///brickbat"


def settled(bom, seconds):
    """Returns the bill without data about the folder and time of the build."""
    # The reference of the package itself is `path+file:///the/folder#brickbat@0.1.0`, or `…#0.1.0`.
    folder, mark, _ = bom["metadata"]["component"]["bom-ref"].partition("#")
    if not folder.startswith("path+file:///") or not mark:
        raise ValueError(f"metadata.component.bom-ref is {folder + mark!r}; expected path+file:///FOLDER#PACKAGE")

    def moved(value):
        if isinstance(value, dict):
            return {name: moved(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [moved(inner) for inner in value]
        # The separator excludes other folders whose names have the same prefix.
        if isinstance(value, str) and value.startswith((folder + "#", folder + "/")):
            return ROOT + value[len(folder) :]
        return value

    bom = moved(bom)
    bom["metadata"]["timestamp"] = datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    bom["serialNumber"] = ""
    return bom | {"serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bom, sort_keys=True))}"}


def main(path):
    with open(path, encoding="utf-8") as file:
        bom = json.load(file)
    bom = settled(bom, int(os.environ["SOURCE_DATE_EPOCH"]))
    with open(path, "w", encoding="utf-8") as file:
        json.dump(bom, file, indent=2, ensure_ascii=False)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
