"""Holds Brickbat's repairs against those of libraries that mend histories, and its verdicts against a checker of sessions.

python repairers.py PROGRAM CORPORA FOLDER

PROGRAM is brickbat, CORPORA the folder `corpora`, and FOLDER is scratch. The vectors of pairing and of empty content say
what is valid; whether a mended history is accepted is judged by `brickbat check`, so that Brickbat is its own judge there. The
exit code is 1 where it does worse than another, or harms anything.
"""
import copy
import json
import subprocess
import sys
from pathlib import Path

import sesslint
import tessera
import toolrepair
import turnsafe

PROGRAM, CORPORA, FOLDER = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
# What the libraries say that they mend: pairing, ids and empty content.
RULES = {
    "anthropic-messages": """tool-result-missing tool-result-orphan tool-result-duplicate tool-result-not-first
        tool-use-id-duplicate tool-use-id-reused text-empty text-blank assistant-message-empty user-message-empty""",
    "openai-chat": """tool-message-missing tool-message-orphan tool-message-duplicate tool-message-unknown-id
        tool-call-id-duplicate content-empty content-null""",
}
NAMES = {"anthropic-messages": "anthropic", "openai-chat": "openai"}


def vectors():
    """Each request with its dialect, and whether it is valid. What a relative of the provider takes is left out: the
    libraries know OpenAI and Anthropic alone."""
    for dialect, rules in RULES.items():
        for rule in rules.split():
            file = json.loads((CORPORA / "histories" / dialect / f"{rule}.json").read_text())
            for vector in file["vectors"]:
                request = vector.get("request")
                if "earlier" in vector or "profile" in vector or not isinstance(request, dict):
                    continue
                if isinstance(request.get("messages"), list):
                    yield dialect, request, vector["result"] != "invalid"


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
    """Whether a call had a result, and none of what was recorded for it is left. Of two results of one call, one may go."""
    left = {text for _, text in recorded(after)}
    texts = {}
    for call, text in recorded(before):
        texts.setdefault(call, set()).add(text)
    return any(not said & left for said in texts.values())


def judged(repairer):
    """What comes of a repairer: the counts of the table."""
    tally = dict(broken=0, noticed=0, valid=0, flagged=0, refused=0, harmed=0, changed=0, mended=0, lost=0, raised=0)
    for dialect, request, is_valid in vectors():
        try:
            noticed, mended = repairer(copy.deepcopy(request), dialect)
        except Exception:
            # A library that gives up on a history notices it, in its way, and mends nothing.
            tally["raised"] += 1
            noticed, mended = True, request["messages"]
        after = is_accepted(request | {"messages": mended}, dialect)
        if is_valid:
            tally["valid"] += 1
            tally["flagged"] += noticed
            tally["changed"] += mended != request["messages"]
            tally["harmed"] += not after
        else:
            tally["broken"] += 1
            tally["noticed"] += noticed
            tally["refused"] += not after
            tally["mended"] += after
            tally["lost"] += after and loses(request["messages"], mended)
    return tally


def sessions():
    """Claude Code's sessions of the corpus: of the healthy and of the broken, how many each of the two says to be broken."""
    own = [PROGRAM, "session"]
    other = [sys.executable, "-m", "sesslint", "check"]
    tally = {}
    for file in sorted((CORPORA / "sessions" / "claude-code").glob("*.jsonl")):
        kind = "healthy" if file.name.startswith("healthy-") else "broken"
        row = tally.setdefault(kind, dict(n=0, brickbat=0, sesslint=0))
        row["n"] += 1
        row["brickbat"] += subprocess.run([*own, str(file)], capture_output=True).returncode != 0
        row["sesslint"] += subprocess.run([*other, str(file)], capture_output=True).returncode != 0
    return tally


OWN = "brickbat"
REPAIRERS = {
    OWN: brickbat,
    f"turnsafe {turnsafe.__version__}": with_turnsafe,
    "tool-call-repair 0.1.0": with_toolrepair,
    f"tessera-transcript {tessera.__version__}": with_tessera,
}


def main():
    print("| who | noticed, of the broken | flagged, of the valid | still refused after repair | valid changed "
          "| valid refused after repair | mended, and lose a recorded result | raises |")
    print("|---|---|---|---|---|---|---|---|")
    tallies = {name: judged(repairer) for name, repairer in REPAIRERS.items()}
    for name, own in tallies.items():
        print(f"| {name} | {own['noticed']} of {own['broken']} | {own['flagged']} of {own['valid']} | {own['refused']} "
              f"| {own['changed']} | {own['harmed']} | {own['lost']} of {own['mended']} | {own['raised']} |")
    print()
    print(f"| sessions of Claude Code | how many | {OWN} says no | sesslint {sesslint.__version__} says no |")
    print("|---|---|---|---|")
    said = sessions()
    for kind, own in sorted(said.items()):
        print(f"| {kind} | {own['n']} | {own['brickbat']} | {own['sesslint']} |")
    own = tallies[OWN]
    is_best = all(own["refused"] <= other["refused"] for other in tallies.values())
    harmless = not (own["flagged"] or own["changed"] or own["harmed"] or own["lost"] or said["healthy"]["brickbat"])
    return 0 if is_best and harmless and own["noticed"] == own["broken"] else 1


sys.exit(main())
