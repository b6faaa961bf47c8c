"""Chooses mutants of an SDK: the sites in the functions of its target, and a seeded choice with as many of each kind."""
import json
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path

import python_sites

HERE = Path(__file__).parent
# The kinds of mutations, in the order in which they are chosen.
KINDS = ["drop-statement", "drop-exit", "swap", "negate", "skip-result", "drop-filter", "drop-argument", "drop-property",
         "flip-flag", "drop-await"]
# The number of characters of a row's `before` and `after`.
SHOWN = 240


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    file: str
    line: int
    column: int
    kind: str
    start: int
    end: int
    # The text that replaces the range.
    text: str
    # Where a marker shows that the code is executed: the form, and the range of the statement or expression.
    mark: tuple

    def key(self):
        return self.file, self.line, self.column, self.kind, short(self.text)

    def applied(self, source):
        return source[:self.start] + self.text + source[self.end:]


def short(text):
    """One line of at most `SHOWN` characters."""
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else text[:SHOWN - 1] + "…"


def sites(file, source, functions, modules):
    """The sites in these functions of a file."""
    if file.endswith(".py"):
        return python_sites.sites(source, functions)
    asked = json.dumps({"source": source, "functions": functions})
    done = subprocess.run(["node", HERE / "sites.mjs", modules], input=asked, capture_output=True, text=True)
    if done.returncode != 0:
        raise LookupError(f"{file}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def of_file(file, source, functions, quiet, modules):
    """Every mutant of a file, except changes of code that contains one of the texts in `quiet`."""
    found = {}
    for site in sites(file, source, functions, modules):
        start, end, mark = site["start"], site["end"], site["mark"]
        before = source[start:end]
        if site["text"] == before or any(word in before for word in quiet):
            continue
        line = source.count("\n", 0, start) + 1
        column = start - (source.rfind("\n", 0, start) + 1) + 1
        mutant = Mutant(file, line, column, site["kind"], start, end, site["text"],
                        (mark["form"], mark["start"], mark["end"]))
        found.setdefault(mutant.key(), mutant)
    return list(found.values())


def ordered(mutants, seed):
    """The mutants in the order of the choice: the kinds take turns, and within a kind the seed decides."""
    queues = []
    for kind in KINDS:
        queue = sorted((mutant for mutant in mutants if mutant.kind == kind), key=Mutant.key)
        random.Random(f"{seed} {kind}").shuffle(queue)
        queues.append(queue)
    rounds = max(map(len, queues), default=0)
    return [queue[turn] for turn in range(rounds) for queue in queues if turn < len(queue)]
