"""Tests that bills of materials are reproducible: python3 dist/tests/test_bom.py"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent / "bom.py"
MEMCHR = "registry+https://github.com/rust-lang/crates.io-index#memchr@2.7.6"


def as_written(folder, serial, time):
    """A small bill in the format of cargo-cyclonedx 0.5.7."""
    package = f"path+file://{folder}#brickbat@0.1.0"
    rules = f"path+file://{folder}/harness/rules#brickbat-rules@0.1.0"
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "serialNumber": f"urn:uuid:{serial}",
        "metadata": {
            "timestamp": time,
            "component": {
                "bom-ref": package,
                "name": "brickbat",
                "components": [{"bom-ref": f"{package} bin-target-0", "name": "brickbat"}],
            },
        },
        "components": [
            {"bom-ref": rules, "name": "brickbat-rules", "purl": "pkg:cargo/brickbat-rules@0.1.0?download_url=file://harness/rules"},
            {"bom-ref": MEMCHR, "name": "memchr", "description": f"not the folder {folder}"},
        ],
        "dependencies": [{"ref": package, "dependsOn": [rules]}, {"ref": rules, "dependsOn": [MEMCHR]}],
    }


def made(bom, seconds="1790000000"):
    """Runs the script and returns its output bytes and its error output."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bom.json"
        path.write_text(json.dumps(bom), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, SCRIPT, path],
            env={**os.environ, "SOURCE_DATE_EPOCH": seconds},
            capture_output=True,
            text=True,
            check=False,
        )
        return path.read_bytes(), done.stderr


class Bills(unittest.TestCase):
    def test_two_places_and_two_times_give_the_same_bytes(self):
        one = as_written("/home/me/brickbat", "3e671687-395b-41f5-a30f-a58921a69b79", "2026-11-26T11:00:00.123456789Z")
        two = as_written("/home/me/brickbat", "8cfb1a20-5a5c-4f0e-9f0d-6c1a6f1f2a11", "2026-11-27T02:30:00.987654321Z")
        moved = as_written("/srv/a%20clone", "0b1f8a0e-63c5-4a52-8c7e-4b8a0f4c7d55", "2026-11-28T00:00:00.000000000Z")
        # A folder in a description is not a reference.
        for bom in (one, two, moved):
            bom["components"][1]["description"] = "fast search"
        self.assertEqual(made(one)[0], made(two)[0])
        self.assertEqual(made(one)[0], made(moved)[0])

    def test_all_else_stays(self):
        bom = json.loads(made(as_written("/srv/clone", "0b1f8a0e-63c5-4a52-8c7e-4b8a0f4c7d55", "2026-11-28T00:00:00Z"))[0])
        expected = as_written("/brickbat", "", "2026-09-21T14:13:20Z")
        expected["components"][1]["description"] = "not the folder /srv/clone"
        expected["serialNumber"] = bom["serialNumber"]
        self.assertEqual(bom, expected)

    def test_the_serial_number_is_that_of_the_content(self):
        serial = "3e671687-395b-41f5-a30f-a58921a69b79"
        one, other = (json.loads(made(as_written("/srv/clone", serial, "2026-11-28T00:00:00Z"), seconds)[0]) for seconds in ("1790000000", "1790000001"))
        # The pattern of the schema of CycloneDX 1.5.
        self.assertRegex(one["serialNumber"], "^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
        self.assertNotEqual(one["serialNumber"], other["serialNumber"])

    def test_a_neighbour_with_a_longer_name_is_another_folder(self):
        bom = as_written("/srv/clone", "0b1f8a0e-63c5-4a52-8c7e-4b8a0f4c7d55", "2026-11-28T00:00:00Z")
        bom["components"][0]["bom-ref"] = "path+file:///srv/clone-of-rules#brickbat-rules@0.1.0"
        text, _ = made(bom)
        self.assertIn(b"path+file:///srv/clone-of-rules#", text)

    def test_a_bill_without_the_folder_is_refused(self):
        bom = as_written("/srv/clone", "0b1f8a0e-63c5-4a52-8c7e-4b8a0f4c7d55", "2026-11-28T00:00:00Z")
        bom["metadata"]["component"]["bom-ref"] = MEMCHR
        before = json.dumps(bom).encode()
        text, error = made(bom)
        self.assertEqual(text, before)
        self.assertIn("expected path+file:///FOLDER#PACKAGE", error)


if __name__ == "__main__":
    unittest.main()
