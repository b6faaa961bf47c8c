"""The command line and the loop of the programs that run many sessions and add them to a report."""
import argparse
import concurrent.futures
import json
from pathlib import Path

import products


def parser(doc):
    """Returns a parser of the arguments that come first in every program."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("program", "products", "scratch", "report"):
        parser.add_argument(name, type=Path)
    return parser


def given(parser, counted, jobs=2):
    """Returns the parsed arguments, with those that come last in every program."""
    parser.add_argument("--count", type=int, default=2, help=f"sessions of each {counted}")
    parser.add_argument("--first", type=int, default=1, help="the seed of the first session; each further session adds one")
    parser.add_argument("--jobs", type=int, default=jobs, help="sessions at once")
    given = parser.parse_args()
    products.MODULES = given.products.resolve() / "node_modules"
    return given


def rows(attempted, plans, given, missing):
    """Yields the row of each session; None if there is none, after it has printed the reason behind `missing`."""
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        tasks = [pool.submit(attempted, given.program.resolve(), *plan, given.scratch.resolve()) for plan in plans]
        for task in concurrent.futures.as_completed(tasks):
            row, why = task.result()
            if row is None:
                print(f"{missing}: {why}", flush=True)
            yield row


def add(report, row, key, **form):
    """Adds a row to the report at once, so that an interrupted run keeps its rows. It replaces the row with its key."""
    old = json.loads(report.read_text())["sessions"] if report.exists() else []
    all_rows = sorted([known for known in old if key(known) != key(row)] + [row], key=key)
    lines = ",\n".join("    " + json.dumps(known, **form) for known in all_rows)
    report.write_text(f'{{\n  "sessions": [\n{lines}\n  ]\n}}\n')
