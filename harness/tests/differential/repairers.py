"""Holds Brickbat's repairs against those of libraries that mend histories, and against a tool that mends sessions.

python repairers.py PROGRAM CORPORA FOLDER RESULT

PROGRAM is brickbat, CORPORA the folder `corpora`, FOLDER is scratch, and RESULT the file of JSON that is written. What is valid
is what the vectors and the entries of the stored sessions say; whether a mended history is accepted is judged by `brickbat
check` and `brickbat session`, so that Brickbat is its own judge there. The exit code is 1 where it does worse than another, or
harms anything.

Of a stored session the libraries are given the messages that its product sends of it, since they know no stores.
"""
import copy
import json
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import sesslint
import tessera
import toolrepair
import turnsafe

PROGRAM, CORPORA, FOLDER, RESULT = sys.argv[1], *map(Path, sys.argv[2:])
# What the libraries say that they mend: pairing, ids and empty content.
RULES = {
    "anthropic-messages": """tool-result-missing tool-result-orphan tool-result-duplicate tool-result-not-first
        tool-use-id-duplicate tool-use-id-reused text-empty text-blank assistant-message-empty user-message-empty""",
    "openai-chat": """tool-message-missing tool-message-orphan tool-message-duplicate tool-message-unknown-id
        tool-call-id-duplicate content-empty content-null""",
}
NAMES = {"anthropic-messages": "anthropic", "openai-chat": "openai"}


class Case:
    """A history with what is known of it. Of a stored session also its file, and whether the messages alone show what it is."""

    def __init__(self, dialect, request, is_valid, store=None):
        self.dialect, self.request, self.is_valid, self.store, self.is_of_body = dialect, request, is_valid, store, True


def vectors():
    """Each request. What a relative of the provider takes is left out: the libraries know OpenAI and Anthropic alone."""
    for dialect, rules in RULES.items():
        for rule in rules.split():
            file = json.loads((CORPORA / "histories" / dialect / f"{rule}.json").read_text())
            for vector in file["vectors"]:
                request = vector.get("request")
                if "earlier" in vector or "profile" in vector or not isinstance(request, dict):
                    continue
                if isinstance(request.get("messages"), list):
                    yield Case(dialect, request, vector["result"] != "invalid")


def entry(file):
    """The lines of an entry of the corpus, as far as they are asked for here: all of these are plain words."""
    lines = [line.strip().split(": ", 1) for line in file.read_text().splitlines()]
    return {line[0]: line[1] for line in lines if len(line) == 2}


def stored(said, folder):
    """The store of an entry in a folder of its own, under the name that the product gives it."""
    source = folder / said["store"]
    place = FOLDER / "stores" / folder.name / source.stem
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    file = place / said.get("name", source.name.removesuffix(".sql") + ".db" if source.suffix == ".sql" else source.name)
    if source.suffix == ".sql":
        with sqlite3.connect(file) as database:
            database.executescript(source.read_text())
        database.close()
    else:
        shutil.copy(source, file)
    if (folder / source.stem).is_dir():
        shutil.copytree(folder / source.stem, place / file.stem)
    return file


def sessions():
    """The stored sessions of which the product sends a body in one of the two dialects: the healthy, and those that have a
    fault which the libraries say that they mend."""
    for file in sorted((CORPORA / "sessions").glob("*/*.yaml")):
        said = entry(file)
        is_valid, rule = said["repair"] == "healthy", said.get("rule", "")
        is_theirs = any(rule == f"{dialect}/{name}" for dialect, names in RULES.items() for name in names.split())
        is_asked = is_valid or is_theirs or said.get("gives_up") == "true"
        if not is_asked or "profile" in said or said["exit"] != str(int(not is_valid)):
            continue
        store = stored(said, file.parent)
        body = subprocess.run([PROGRAM, "session", "--request", str(store)], capture_output=True, text=True)
        dialect = next((dialect for dialect in RULES if body.stderr.rstrip().endswith(dialect)), None)
        if dialect and body.stdout:
            case = Case(dialect, json.loads(body.stdout), is_valid, store)
            case.is_of_body = is_valid or not is_accepted(case.request, dialect)
            yield case


def check(request, dialect, *options):
    file = FOLDER / "request.json"
    file.write_text(json.dumps(request))
    return subprocess.run([PROGRAM, "check", *options, "--dialect", dialect, str(file)], capture_output=True).returncode


def is_accepted(request, dialect):
    return check(request, dialect) == 0


def brickbat(request, dialect):
    noticed = not is_accepted(request, dialect)
    fixed = FOLDER / "request.fixed.json"
    fixed.unlink(missing_ok=True)
    check(request, dialect, "--fix")
    return noticed, json.loads(fixed.read_text())["messages"] if fixed.exists() else request["messages"]


def with_turnsafe(request, dialect):
    said = request["messages"]
    return not turnsafe.validate(said, NAMES[dialect]), turnsafe.repair(said, NAMES[dialect])


def with_toolrepair(request, dialect):
    said, name = request["messages"], NAMES[dialect]
    return not toolrepair.is_valid(said, format=name), toolrepair.repair(said, format=name, strategy="synthesize")


def with_tessera(request, dialect):
    said, adapter = request["messages"], NAMES[dialect]
    return not tessera.inspect(said, adapter=adapter), list(tessera.repair(said, adapter=adapter).transcript)


def recorded(messages):
    """What is recorded as the result of each call that stands in the history, by the call's id."""
    called, found = set(), []
    for message in messages:
        if not isinstance(message, dict):
            continue
        content = message.get("content")
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        called |= {block.get("id") for block in blocks if block.get("type") == "tool_use"}
        called |= {call.get("id") for call in message.get("tool_calls") or [] if isinstance(call, dict)}
        results = [(block.get("tool_use_id"), block) for block in blocks if block.get("type") == "tool_result"]
        if message.get("role") == "tool":
            results.append((message.get("tool_call_id"), message))
        found += [(call, json.dumps(block.get("content"))) for call, block in results]
    return [(call, text) for call, text in found if call in called]


def loses(before, after):
    """Whether something that was recorded for a call is gone. Of two results that are equal one may go; of two that differ
    nobody can tell from the history which is the true one."""
    left = set(recorded(after))
    return any(said not in left for said in recorded(before))


def judged(repairer, cases):
    """What comes of a repairer: the counts of the table."""
    tally = dict(broken=0, noticed=0, valid=0, flagged=0, refused=0, harmed=0, changed=0, mended=0, lost=0, raised=0)
    for case in cases:
        request = case.request
        try:
            noticed, mended = repairer(copy.deepcopy(request), case.dialect)
        except Exception:
            # A library that gives up on a history notices it, in its way, and mends nothing.
            tally["raised"] += 1
            noticed, mended = True, request["messages"]
        after = is_accepted(request | {"messages": mended}, case.dialect)
        count(tally, case, noticed, after, mended != request["messages"])
        tally["lost"] += not case.is_valid and after and loses(request["messages"], mended)
    return tally


def count(tally, case, noticed, after, is_changed):
    if case.is_valid:
        tally["valid"] += 1
        tally["flagged"] += noticed
        tally["changed"] += is_changed
        tally["harmed"] += not after
    else:
        tally["broken"] += 1
        tally["noticed"] += noticed
        tally["refused"] += not after
        tally["mended"] += after


def stores(tool, cases):
    """What comes of a tool that is given the stores themselves: the same counts, without what is lost."""
    tally = dict(broken=0, noticed=0, valid=0, flagged=0, refused=0, harmed=0, changed=0, mended=0)
    for case in cases:
        folder = case.store.with_name("given")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(case.store.parent, folder)
        store, out = folder / case.store.name, folder / f"mended{case.store.suffix}"
        was = store.read_bytes()
        if tool.version:
            store.write_bytes(VERSION.sub(b'"version":"%s"' % tool.version, was))
        noticed = subprocess.run([*tool.check, str(store)], capture_output=True).returncode != 0
        subprocess.run([*tool.repair, "--out", str(out), str(store)], capture_output=True)
        is_changed = out.exists()
        mended = out.read_bytes() if is_changed else was
        # As it was written, under the name by which some products are known.
        own = VERSION.search(was) if tool.version else None
        store.write_bytes(VERSION.sub(own[0], mended) if own else mended)
        after = subprocess.run([PROGRAM, "session", str(store)], capture_output=True).returncode == 0
        count(tally, case, noticed, after, is_changed)
    return tally


class Tool:
    """How a tool for stores is asked, and the version that it is made to believe, if it knows no other."""

    def __init__(self, check, repair, version=None):
        self.check, self.repair, self.version = check, repair, version


VERSION = re.compile(rb'"version": ?"[^"]*"')
OWN = "brickbat"
BODIES = {
    OWN: brickbat,
    f"turnsafe {turnsafe.__version__}": with_turnsafe,
    "tool-call-repair 0.1.0": with_toolrepair,
    f"tessera-transcript {tessera.__version__}": with_tessera,
}
SESSLINT = [sys.executable, "-m", "sesslint"]
REPAIR = ["repair", "--emit", "vendor"]
NAMED = f"sesslint {sesslint.__version__}"
# It says that it does not know the format where the version is another than 1.0.0, which no release has been for long.
KNOWN = b"1.0.0"
STORES = {
    OWN: Tool([PROGRAM, "session"], [PROGRAM, "repair"]),
    NAMED: Tool([*SESSLINT, "check"], [*SESSLINT, *REPAIR]),
    f"{NAMED}, version written as 1.0.0": Tool([*SESSLINT, "check"], [*SESSLINT, *REPAIR], KNOWN),
    f"{NAMED}, the same, salvage": Tool(
        [*SESSLINT, "check"], [*SESSLINT, "--policy", "salvage", *REPAIR, "--acknowledge-side-effects"], KNOWN,
    ),
}


def main():
    own_sessions = list(sessions())
    # Where it is the store that cannot be read, the messages show no fault.
    bodies = [case for case in own_sessions if case.is_of_body]
    of_claude_code = [case for case in own_sessions if case.store.parent.parent.name == "claude-code"]
    sets = {
        "vectors": {who: judged(repairer, list(vectors())) for who, repairer in BODIES.items()},
        "sessions": {who: judged(repairer, bodies) for who, repairer in BODIES.items()},
        "stores": {OWN: stores(STORES[OWN], own_sessions)},
        "stores-claude-code": {who: stores(tool, of_claude_code) for who, tool in STORES.items()},
    }
    rows = [{"set": name, "who": who} | tally for name, rows in sets.items() for who, tally in rows.items()]
    lines = ",\n".join("    " + json.dumps(row) for row in rows)
    RESULT.write_text(f'{{\n  "rows": [\n{lines}\n  ]\n}}\n')
    print(RESULT.read_text())
    is_fine = True
    for name, tallies in sets.items():
        own = tallies[OWN]
        is_fine &= own["noticed"] == own["broken"]
        is_fine &= not any(own.get(key) for key in ("flagged", "changed", "harmed", "lost"))
        is_fine &= all(own["refused"] <= other["refused"] + other.get("lost", 0) for other in tallies.values())
    return 0 if is_fine else 1


sys.exit(main())
