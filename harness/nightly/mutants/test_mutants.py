"""Tests of the mutators: small sources in, mutants out.

    python3 harness/nightly/mutants/test_mutants.py MODULES

MODULES is the folder in which npm has installed the packages of `package.json`.
"""
import ast
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import markers
import mutants
import run
import seen
import table
from trial import parts

MODULES = Path("node_modules")

JAVASCRIPT = """\
export class Loop {
  async run(messages) {
    const sent = [];
    for (const part of messages) {
      if (part.skip) continue;
      sent.push(part);
      await this.keep(part, true);
    }
    log.debug("sent");
    return { sent: sent.filter((part) => part.text), done: this.done ? 1 : 0 };
  }
}
function other() { run(1, 2); }
"""
PYTHON = '''\
class Loop:
    """Runs it."""

    async def run(self, messages):
        sent = []
        for part in messages:
            if part.skip:
                continue
            elif part.late:
                self.late = part
            sent.append(part)
            await self.keep(part, last=True)
        return {"sent": [part for part in sent if part.text], "done": 1}


def other():
    run(1, 2)
'''
# For each kind, what the mutants of `Loop` replace, and the replacement.
IN_JAVASCRIPT = {
    "drop-statement": [("sent.push(part);", ";"), ("await this.keep(part, true);", ";")],
    "drop-exit": [("continue;", ";")],
    "swap": [
        ("if (part.skip) continue; sent.push(part);", "sent.push(part); if (part.skip) continue;"),
        ("sent.push(part); await this.keep(part, true);", "await this.keep(part, true); sent.push(part);"),
    ],
    "negate": [("part.skip", "!(part.skip)"), ("this.done", "!(this.done)")],
    "skip-result": [
        ("messages", "[...(messages)].slice(0, -1)"), ("messages", "[...(messages)].slice(1)"), ("sent", "sent.slice(1)"),
    ],
    "drop-filter": [("sent.filter((part) => part.text)", "sent")],
    "drop-argument": [(", true", "")],
    "drop-property": [("sent: sent.filter((part) => part.text),", ""), (", done: this.done ? 1 : 0", "")],
    "flip-flag": [("true", "false")],
    "drop-await": [("await this.keep(part, true)", "this.keep(part, true)")],
}
IN_PYTHON = {
    "drop-statement": [("self.late = part", "pass"), ("sent.append(part)", "pass"), ("await self.keep(part, last=True)", "pass")],
    "drop-exit": [("continue", "pass")],
    "swap": [
        ("if part.skip: continue elif part.late: self.late = part sent.append(part)",
         "sent.append(part) if part.skip: continue elif part.late: self.late = part"),
        ("sent.append(part) await self.keep(part, last=True)", "await self.keep(part, last=True) sent.append(part)"),
    ],
    "negate": [("part.skip", "(not (part.skip))"), ("part.late", "(not (part.late))")],
    "skip-result": [
        ("messages", "list(messages)[1:]"), ("messages", "list(messages)[:-1]"), ("sent", "list(sent)[1:]"), ("sent", "list(sent)[:-1]"),
    ],
    "drop-filter": [("part.text", "True")],
    "drop-argument": [("self.keep(part, last=True)", "self.keep(part)")],
    "drop-property": [
        ('{"sent": [part for part in sent if part.text], "done": 1}', "{'done': 1}"),
        ('{"sent": [part for part in sent if part.text], "done": 1}', "{'sent': [part for part in sent if part.text]}"),
    ],
    "flip-flag": [("True", "False")],
}


def found(name, source, functions, quiet=()):
    return mutants.of_file(name, source, functions, quiet, MODULES)


def shown(source, name, quiet=()):
    """The mutants of `Loop` by kind."""
    by_kind = {}
    for mutant in found(name, source, ["Loop"], quiet):
        pair = mutants.short(source[mutant.start:mutant.end]), mutants.short(mutant.text)
        by_kind.setdefault(mutant.kind, []).append(pair)
    return {kind: sorted(pairs) for kind, pairs in by_kind.items()}


def is_javascript(text):
    return subprocess.run(["node", "--check", "--input-type=module", "-"], input=text, text=True,
                          capture_output=True).returncode == 0


class Sites(unittest.TestCase):
    def check(self, source, name, expected):
        found_here = shown(source, name, quiet=["log."])
        self.maxDiff = None
        self.assertEqual(found_here, {kind: sorted(pairs) for kind, pairs in expected.items()})

    def test_javascript(self):
        self.check(JAVASCRIPT, "loop.mjs", IN_JAVASCRIPT)

    def test_python(self):
        self.check(PYTHON, "loop.py", IN_PYTHON)

    def test_every_mutant_is_a_program(self):
        for mutant in found("loop.py", PYTHON, ["Loop"]):
            ast.parse(mutant.applied(PYTHON))
        for mutant in found("loop.mjs", JAVASCRIPT, ["Loop"]):
            self.assertTrue(is_javascript(mutant.applied(JAVASCRIPT)), mutant)

    def test_a_method_is_named_with_its_class(self):
        for name, source in (("loop.mjs", JAVASCRIPT), ("loop.py", PYTHON)):
            self.assertEqual(found(name, source, ["Loop.run"]), found(name, source, ["Loop"]))
            self.assertEqual([mutant.kind for mutant in found(name, source, ["other"])], ["drop-statement", "drop-argument"])

    def test_an_unknown_name_is_an_error(self):
        for name, source in (("loop.mjs", JAVASCRIPT), ("loop.py", PYTHON)):
            with self.assertRaisesRegex(LookupError, "the name Loop.walk"):
                found(name, source, ["Loop.walk"])

    def test_offsets_count_characters(self):
        for name, source in (("loop.mjs", "// 😀 é\n" + JAVASCRIPT), ("loop.py", "# 😀 é\n" + PYTHON)):
            pushed = [mutant for mutant in found(name, source, ["Loop"]) if mutant.kind == "drop-statement"]
            self.assertTrue(any(source[one.start:one.end].startswith("sent.") for one in pushed))


class Choice(unittest.TestCase):
    def test_the_seed_decides_and_the_kinds_take_turns(self):
        all_of_it = found("loop.py", PYTHON, ["Loop"])
        one = mutants.ordered(all_of_it, "1")
        self.assertEqual(one, mutants.ordered(list(reversed(all_of_it)), "1"))
        self.assertNotEqual(one, mutants.ordered(all_of_it, "2"))
        self.assertEqual(sorted(one, key=mutants.Mutant.key), sorted(all_of_it, key=mutants.Mutant.key))
        n_kinds = len(IN_PYTHON)
        self.assertEqual([mutant.kind for mutant in one[:n_kinds]], [kind for kind in mutants.KINDS if kind in IN_PYTHON])


class Markers(unittest.TestCase):
    def numbers(self, name, source):
        marks = sorted({mutant.mark for mutant in found(name, source, ["Loop", "other"])})
        return {mark: number for number, mark in enumerate(marks)}

    def reached(self, name, source, program):
        """The executed code: the beginning of each marked place that has written its number."""
        numbers = self.numbers(name, source)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "reached"
            if name.endswith(".py"):
                (Path(folder) / f"{markers.PYTHON_MODULE}.py").write_text(markers.python_module(file))
                text = markers.marked(source, numbers, markers.python) + program
                words = [sys.executable, "-c", text]
            else:
                text = markers.marked_javascript(source, numbers, file) + program
                words = ["node", "--input-type=module", "-e", text]
            subprocess.run(words, check=True, cwd=folder)
            hit = {int(line) for line in file.read_text().split()}
        return sorted(source[start:end].split("\n")[0] for (_, start, end), number in numbers.items() if number in hit)

    def test_javascript(self):
        program = """
            globalThis.log = { debug() {} };
            const loop = new Loop();
            loop.keep = () => {};
            await loop.run([{ text: "a" }]);
        """
        self.assertEqual(self.reached("loop.mjs", JAVASCRIPT, program), [
            "await this.keep(part, true);", "for (const part of messages) {", "if (part.skip) continue;", 'log.debug("sent");',
            "return { sent: sent.filter((part) => part.text), done: this.done ? 1 : 0 };", "sent.push(part);",
        ])

    def test_python(self):
        program = """
import asyncio, types
async def keep(part, last):
    pass
loop = Loop()
loop.keep = keep
asyncio.run(loop.run([types.SimpleNamespace(skip=False, late=False, text="a")]))
"""
        self.assertEqual(self.reached("loop.py", PYTHON, program), [
            "await self.keep(part, last=True)", "for part in messages:", "if part.skip:", "part.late",
            'return {"sent": [part for part in sent if part.text], "done": 1}', "sent.append(part)",
        ])


class Seen(unittest.TestCase):
    def test_only_what_is_steady_is_compared(self):
        usual = seen.steady({"a": {"store": "1", "tools": "1"}, "b": {"store": "1"}}, {"a": {"store": "1", "tools": "2"}})
        self.assertEqual(usual, {"a": {"store": "1"}, "b": {}})
        now = {"a": {"store": "2", "tools": "3"}, "b": {"store": "2"}}
        self.assertEqual(seen.differences(usual, now), {"a": ["store"]})


class Report(unittest.TestCase):
    def test_every_plan_is_in_one_part(self):
        plans = [str(number) for number in range(50)]
        split = list(parts(plans))
        self.assertEqual([len(part) for part in split], [20, 20, 10])
        self.assertEqual([plan for part in split for plan in part], plans)

    def test_a_mutant_that_is_not_killed_any_more_is_missed(self):
        row = {"sdk": "ai-sdk", "file": "index.js", "line": 1, "column": 1, "kind": "swap", "after": "", "result": "killed"}
        survivor = {**row, "result": "survived"}
        self.assertEqual(run.missed([survivor], [row]), [survivor])
        self.assertEqual(run.missed([row], [row]), [])
        self.assertEqual(run.missed([survivor], [survivor, {**row, "line": 2}]), [])

    def test_the_share_is_that_of_the_judged(self):
        rows = [{"sdk": "a", "kind": "swap", "result": result}
                for result in ("killed", "killed", "killed", "survived", "stillborn", "not-reached")]
        self.assertEqual(table.of(rows, ["a", "b"], ["negate", "swap"]).splitlines()[2:], [
            "| a | swap | 3 | 0 | 1 | 0 | 1 | 1 | 75% |", "| a | all | 3 | 0 | 1 | 0 | 1 | 1 | 75% |",
            "| all | all | 3 | 0 | 1 | 0 | 1 | 1 | 75% |",
        ])


if __name__ == "__main__":
    MODULES = Path(sys.argv.pop(1))
    unittest.main()
