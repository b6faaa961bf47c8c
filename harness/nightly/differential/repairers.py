"""Compares Brickbat's repairs with those of libraries that repair histories and of a tool that repairs sessions.

python repairers.py PROGRAM CORPORA FOLDER RESULT

PROGRAM is brickbat, CORPORA the folder `corpora`, FOLDER a scratch folder, and RESULT the JSON file to write. The vectors and
the entries of the stored sessions define which histories are valid. `brickbat check` and `brickbat session` decide if a
repaired history is accepted, so in this part Brickbat judges itself. The exit code is 1 if Brickbat does worse than another
tool or harms a history.

The libraries cannot read stores. For a stored session, they get the messages that its product sends.
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
# The rules whose violations the libraries claim to repair: pairing, ids and empty content.
RULES = {
    "anthropic-messages": """tool-result-missing tool-result-orphan tool-result-duplicate tool-result-not-first
        tool-use-id-duplicate tool-use-id-reused text-empty text-blank assistant-message-empty user-message-empty""",
    "openai-chat": """tool-message-missing tool-message-orphan tool-message-duplicate tool-message-unknown-id
        tool-call-id-duplicate content-empty content-null""",
}
NAMES = {"anthropic-messages": "anthropic", "openai-chat": "openai"}


class Case:
    """A history with its expected verdict. For a stored session, also its file. `is_of_body`: the messages show the fault."""

    def __init__(self, dialect, request, is_valid, store=None):
        self.dialect, self.request, self.is_valid, self.store, self.is_of_body = dialect, request, is_valid, store, True


def vectors():
    """Yields the requests, except those for compatible providers: the libraries know only OpenAI and Anthropic."""
    for dialect, rules in RULES.items():
        for rule in rules.split():
            file = json.loads((CORPORA / "histories" / dialect / f"{rule}.json").read_text())
            for vector in file["vectors"]:
                request = vector.get("request")
                if "earlier" in vector or "profile" in vector or not isinstance(request, dict):
                    continue
                if isinstance(request.get("messages"), list):
                    yield Case(dialect, request, vector["result"] != "invalid")


def entries(file):
    """The fields of each entry in a list. The ones used here are plain strings, so no YAML parser is needed."""
    _, *texts = re.split(r"^  [a-z0-9-]+:\n", file.read_text(), flags=re.MULTILINE)
    for text in texts:
        lines = [line.strip().split(": ", 1) for line in text.splitlines()]
        yield {line[0]: line[1] for line in lines if len(line) == 2}


def stored(fields, folder):
    """Copies the store of an entry to a separate folder, under the name that the product gives it."""
    source = folder / fields["store"]
    place = FOLDER / "stores" / folder.name / source.stem
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    file = place / fields.get("name", source.name.removesuffix(".sql") + ".db" if source.suffix == ".sql" else source.name)
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
    """Yields the stored sessions whose product sends a body in one of the two dialects: the healthy ones, and those with a
    fault that the libraries claim to repair."""
    lists = sorted((CORPORA / "sessions").glob("*/entries.yaml"))
    for folder, fields in ((file.parent, fields) for file in lists for fields in entries(file)):
        is_valid, rule = fields["repair"] == "healthy", fields.get("rule", "")
        is_theirs = any(rule == f"{dialect}/{name}" for dialect, names in RULES.items() for name in names.split())
        is_asked = is_valid or is_theirs or fields.get("gives_up") == "true"
        if not is_asked or "profile" in fields or fields["exit"] != str(int(not is_valid)):
            continue
        store = stored(fields, folder)
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
    messages = request["messages"]
    return not turnsafe.validate(messages, NAMES[dialect]), turnsafe.repair(messages, NAMES[dialect])


def with_toolrepair(request, dialect):
    messages, name = request["messages"], NAMES[dialect]
    return not toolrepair.is_valid(messages, format=name), toolrepair.repair(messages, format=name, strategy="synthesize")


def with_tessera(request, dialect):
    messages, adapter = request["messages"], NAMES[dialect]
    return not tessera.inspect(messages, adapter=adapter), list(tessera.repair(messages, adapter=adapter).transcript)


def recorded(messages):
    """The recorded results of the calls in the history, with the call ids."""
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
    """Returns true if a recorded result of a call is lost. One of two equal results may be dropped. If two results differ,
    the history does not show which one is true, so both must stay."""
    left = set(recorded(after))
    return any(result not in left for result in recorded(before))


def judged(repairer, cases):
    """Runs a repairer on all cases and returns the counts of the table."""
    tally = dict(broken=0, noticed=0, valid=0, flagged=0, refused=0, harmed=0, changed=0, mended=0, lost=0, raised=0)
    for case in cases:
        request = case.request
        try:
            noticed, repaired = repairer(copy.deepcopy(request), case.dialect)
        except Exception:
            # An exception counts as noticing the fault without repairing it.
            tally["raised"] += 1
            noticed, repaired = True, request["messages"]
        after = is_accepted(request | {"messages": repaired}, case.dialect)
        count(tally, case, noticed, after, repaired != request["messages"])
        tally["lost"] += not case.is_valid and after and loses(request["messages"], repaired)
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
    """Runs a tool on the stores themselves and returns the same counts, without `lost`."""
    tally = dict(broken=0, noticed=0, valid=0, flagged=0, refused=0, harmed=0, changed=0, mended=0)
    for case in cases:
        folder = case.store.with_name("given")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(case.store.parent, folder)
        store, out = folder / case.store.name, folder / f"repaired{case.store.suffix}"
        was = store.read_bytes()
        if tool.version:
            store.write_bytes(VERSION.sub(b'"version":"%s"' % tool.version, was))
        noticed = subprocess.run([*tool.check, str(store)], capture_output=True).returncode != 0
        subprocess.run([*tool.repair, "--out", str(out), str(store)], capture_output=True)
        is_changed = out.exists()
        repaired = out.read_bytes() if is_changed else was
        # Restore the original version and file name, which identify some products.
        own = VERSION.search(was) if tool.version else None
        store.write_bytes(VERSION.sub(own[0], repaired) if own else repaired)
        after = subprocess.run([PROGRAM, "session", str(store)], capture_output=True).returncode == 0
        count(tally, case, noticed, after, is_changed)
    return tally


class Tool:
    """The commands of a tool for stores. If the tool knows only one version of the product, `version` is written first."""

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
# sesslint reports an unknown format for any version except 1.0.0, which has been outdated for a long time.
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
    # If the fault is in the store, the messages do not show it.
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
