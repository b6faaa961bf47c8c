"""What can be seen of a system from outside in each plan, as hashes: to tell whether a survivor changes anything at all."""
import hashlib
import json


def digest(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def read(file):
    return json.loads(file.read_text()) if file.exists() else None


def of_case(folder):
    """The requests, the runs of the tools, what the user is shown, and what is stored."""
    requests = [read(file) for file in sorted(folder.glob("requests/*.json"))]
    trace = [json.loads(line) for line in (folder / "trace.jsonl").read_text().splitlines()]
    shown = {}
    for event in trace:
        if event["event"] == "call-shown":
            shown.setdefault(event["id"], []).append(event["state"])
    outcomes = [event["outcome"] for event in trace if event["event"] == "turn-ended"]
    return {
        "requests": digest([(one["path"], one.get("body", one.get("text"))) for one in requests]),
        "tools": digest(read(folder / "ledger.json")),
        "shown": digest([shown, outcomes]),
        "store": digest(read(folder / "store.json")),
    }


def of_run(out):
    """The hashes of each plan in a run folder."""
    folders = [file.parent for file in out.glob("cases/*/*/case.json") if (file.parent / "trace.jsonl").exists()]
    return {json.loads((folder / "case.json").read_text())["plan"]: of_case(folder) for folder in folders}


def steady(one, two):
    """The hashes that two runs of the same system have in common."""
    return {plan: {part: value for part, value in parts.items() if two.get(plan, {}).get(part) == value}
            for plan, parts in one.items()}


def differences(usual, now):
    """The plans in which something else is seen than usual, each with the parts."""
    found = {}
    for plan, parts in now.items():
        changed = [part for part, value in usual.get(plan, {}).items() if parts[part] != value]
        if changed:
            found[plan] = changed
    return found
