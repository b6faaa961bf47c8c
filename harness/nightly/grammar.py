"""Reads the documents with the grammar checker Harper: `python3 grammar.py PATH/TO/harper-cli`, from the repository's root.

Rules that do not fit technical prose are in `LEFT_OUT`, each with its reason; single places are in `TRIAGED`.
Exits with 1 and the places if anything else is found.
"""

import glob
import json
import subprocess
import sys

DOCUMENTS = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "scenarios/README.md",
             "harness/systems/README.md", "harness/filters-under-test/README.md", "docs/src/**/*.md"]

# Made from recorded data and from code, which have words of their own.
GENERATED = {"docs/src/reference/known.md", "docs/src/reference/options.md", "docs/src/reference/compactions.md",
             "docs/src/reference/exports.md"}

LEFT_OUT = {
    "SpellCheck": "names of products, rules and identifiers",
    "SplitWords": "the same",
    "OrthographicConsistency": "the same",
    "SentenceCapitalization": "entries of lists and cells of tables",
    "UseTitleCase": "headings are in sentence case",
    "OxfordComma": "not used here",
    "MassNouns": "a finding and a grounding are counted",
    "DisjointPrefixes": "sub-agent and re-export are written so",
    "ExpandMemoryShorthands": "MB and MiB are units",
    "ExpandTimeShorthands": "ms is a unit",
    "ExpandMinimum": "min is a unit",
    "ExpandControl": "Ctrl-C is a key",
    "LongSentences": "lists are long",
}

# Findings that were read and are wrong: the rule and the text that it is about.
TRIAGED = {
    ("CondenseAllThe", "all of the"),
    ("DiscourseMarkers", "Otherwise"),
    ("Everyone", "every one"),
    ("MergeWords", "s in"),
    ("MissingPreposition", "are "),
    ("MissingPreposition", "case "),
    ("SingleBe", " is"),
    ("ThatThan", "that"),
    ("TheHowWhy", "the "),
    ("ThereIsAgreement", "are few"),
    ("ThereIsAgreement", "are findings"),
}


def main(harper):
    files = sorted({file for pattern in DOCUMENTS for file in glob.glob(pattern, recursive=True)} - GENERATED)
    assert len(files) > 30, files
    ran = subprocess.run([harper, "lint", "--no-color", "--quiet", "--format", "json", *files],
                         capture_output=True, text=True, check=False)
    wrong = []
    for report in json.loads(ran.stdout):
        for lint in report["lints"]:
            place = (lint["rule"], lint["matched_text"])
            if lint["rule"] not in LEFT_OUT and place not in TRIAGED:
                wrong.append(f'{report["file"]}:{lint["line"]}: {lint["rule"]}: `{lint["matched_text"]}`: {lint["message"]}')
    print("\n".join(wrong))
    print(f"{len(files)} documents, {len(wrong)} places")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
