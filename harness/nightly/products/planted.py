"""Plants publicly reported faults in the stores of products, repairs the stores, and continues the sessions.

python planted.py PROGRAM PRODUCTS SCRATCH REPORT [--only PRODUCT] [--count N]

The arguments are those of `healthy.py`; REPORT is the report of `brickbat closed-loop`, to which the sessions are added.
Each turn is a process of its own:

1. The user sends a message, and the strict provider answers with a batch of calls and then with text.
2. A fault is put into the store, for example at the first call or the last reply, as the product itself would have left it.
3. The user sends two more messages with the broken store, and then with the repaired store. If the former are rejected, the
   latter must be accepted.

The repair is written to a copy, which replaces the store as `brickbat repair` instructs: a database's log is deleted.
"""
import datetime
import json
import shutil
import sqlite3
import subprocess
import sys
import uuid
from pathlib import Path

import products
import rounds
from bricked import bricked, fate, judged, later_turns
from session import Session, Wrong


def read(path):
    return [json.loads(line) for line in path.read_text().split("\n") if line]


def write(path, records):
    path.write_text("".join(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n" for record in records))


def codex_batch_twice(store, _):
    """Duplicates the calls of the first batch and their outputs."""
    records = read(store)
    kinds = [record["payload"].get("type", "") if record["type"] == "response_item" else "" for record in records]
    first = next(at for at, kind in enumerate(kinds) if kind.endswith("_call"))
    ids = set()
    for at in range(first, len(records)):
        if kinds[at].endswith("_call"):
            ids.add(records[at]["payload"]["call_id"])
        elif kinds[at].endswith("_call_output"):
            ids.discard(records[at]["payload"]["call_id"])
            last = at
            if not ids:
                break
    batch = [json.loads(json.dumps(record)) for record, kind in zip(records[first:last + 1], kinds[first:last + 1]) if kind]
    records[last + 1:last + 1] = batch
    numbered(records)
    write(store, records)


def codex_reply_twice(store, _):
    """Duplicates the item with the model's last text."""
    records = read(store)
    copied(records, items(records, lambda item: item.get("role") == "assistant")[-1])
    write(store, records)


def codex_output_twice(store, _):
    """Duplicates the first output without its call."""
    records = read(store)
    copied(records, items(records, lambda item: item["type"] == "function_call_output")[0])
    write(store, records)


def codex_instructions_twice(store, _):
    """Duplicates the item with the developer's instructions, which has several parts."""
    records = read(store)
    copied(records, items(records, lambda item: item.get("role") == "developer")[0])
    write(store, records)


def codex_prompt_twice(store, _):
    """Duplicates the item with the user's last message."""
    records = read(store)
    copied(records, items(records, lambda item: item.get("role") == "user")[-1])
    write(store, records)


def items(records, is_meant):
    return [at for at, record in enumerate(records) if record["type"] == "response_item" and is_meant(record["payload"])]


def copied(records, at):
    records.insert(at + 1, json.loads(json.dumps(records[at])))
    numbered(records)


def numbered(records):
    """Renumbers the ordinals of a paginated rollout."""
    if "ordinal" in records[0]:
        for ordinal, record in enumerate(records, records[0]["ordinal"]):
            record["ordinal"] = ordinal


def after(records, at, copies, keys):
    """Inserts copies into a chain of lines after a line. The children of that line become children of the last copy."""
    own, parent = keys
    tip = records[at][own]
    last = tip
    for copy in copies:
        copy[own], copy[parent] = str(uuid.uuid5(uuid.NAMESPACE_OID, f"copy of {copy[own]}")), last
        last = copy[own]
    for record in records:
        if record.get(parent) == tip:
            record[parent] = last
    records[at + 1:at + 1] = copies


def qwen_result_twice(store, _):
    """Duplicates the line with the results of the first batch."""
    records = read(store)
    at = next(at for at, record in enumerate(records) if record["type"] == "tool_result")
    after(records, at, [json.loads(json.dumps(records[at]))], ("uuid", "parentUuid"))
    write(store, records)


def claude_lines(records, kind):
    """The indexes of the lines with a block of this kind."""
    return [at for at, record in enumerate(records)
            if record.get("type") in ("user", "assistant") and isinstance(record["message"]["content"], list)
            and any(block["type"] == kind for block in record["message"]["content"])]


def claude_batch_twice(store, _):
    """Duplicates the lines of the first batch and its results."""
    records = read(store)
    lines = sorted(claude_lines(records, "tool_use") + claude_lines(records, "tool_result"))
    copies = [json.loads(json.dumps(records[at])) for at in lines]
    after(records, lines[-1], copies, ("uuid", "parentUuid"))
    write(store, records)


def claude_result_twice(store, _):
    """Duplicates the line of the result that is the parent of the next reply."""
    records = read(store)
    parents = {record["parentUuid"] for record in records if record.get("type") == "assistant"}
    at = next(at for at in claude_lines(records, "tool_result") if records[at]["uuid"] in parents)
    after(records, at, [json.loads(json.dumps(records[at]))], ("uuid", "parentUuid"))
    write(store, records)


def claude_open_result_twice(store, _):
    """Removes the reply to the batch, as if the process had been killed before it, and duplicates the line of the last
    result. The duplicate is the end of the file and has the time of the original."""
    records = read(store)
    while not claude_lines(records[-1:], "tool_result"):
        records.pop()
    after(records, len(records) - 1, [json.loads(json.dumps(records[-1]))], ("uuid", "parentUuid"))
    write(store, records)


def claude_result_missing(store, _):
    """Removes the line of the last result."""
    claude_lost(store, "tool_result")


def claude_result_orphan(store, _):
    """Removes the line of the last call."""
    claude_lost(store, "tool_use")


def claude_lost(store, kind):
    """Removes the last line with a block of this kind. Its children become children of its parent."""
    records = read(store)
    lost = records.pop(claude_lines(records, kind)[-1])
    for record in records:
        if record.get("parentUuid") == lost["uuid"]:
            record["parentUuid"] = lost["parentUuid"]
    write(store, records)


def copilot_result_missing(store, _):
    """Removes the line of the first result. Its children become children of its parent."""
    records = read(store)
    at = next(at for at, record in enumerate(records) if record["type"] == "tool.execution_complete")
    lost = records.pop(at)
    for record in records:
        if record["parentId"] == lost["id"]:
            record["parentId"] = lost["parentId"]
    write(store, records)


def copilot_line_in_two(store, _):
    """Breaks the line of the last reply inside its text, as an unescaped line break does."""
    lines = store.read_text().split("\n")
    at = max(at for at, line in enumerate(lines) if line.startswith('{"type":"assistant.message"'))
    words = json.loads(lines[at])["data"]["content"]
    cut = lines[at].index(words) + len(words) // 2
    lines[at:at + 1] = [lines[at][:cut], lines[at][cut:]]
    store.write_text("\n".join(lines))


def copilot_zeros_at_the_end(store, _):
    """Adds NUL bytes, as a file system does after a power failure."""
    store.write_bytes(store.read_bytes() + bytes(64))


def opencode_call_twice(store, session):
    """Duplicates the part with the first call and its result."""
    with sqlite3.connect(store) as database:
        rows = database.execute("SELECT * FROM part WHERE session_id = ? ORDER BY id", [session.id])
        names = [column[0] for column in rows.description]
        call = next(dict(zip(names, row)) for row in rows if json.loads(row[names.index("data")])["type"] == "tool")
        call["id"] += "0"
        marks = ", ".join("?" * len(names))
        database.execute(f"INSERT INTO part ({', '.join(names)}) VALUES ({marks})", list(call.values()))
    database.close()


# The product, the name of the fault, its place, and the function that plants it in the store.
FAULTS = [
    ("codex", "batch-twice", "first-call", codex_batch_twice),
    ("codex", "output-twice", "first-call", codex_output_twice),
    ("codex", "reply-twice", "last-reply", codex_reply_twice),
    ("codex", "instructions-twice", "instructions", codex_instructions_twice),
    ("codex", "prompt-twice", "last-prompt", codex_prompt_twice),
    ("qwen-code", "result-twice", "first-call", qwen_result_twice),
    ("claude-code", "batch-twice", "first-call", claude_batch_twice),
    ("claude-code", "result-twice", "first-call", claude_result_twice),
    ("claude-code", "result-missing", "first-call", claude_result_missing),
    ("claude-code", "result-orphan", "first-call", claude_result_orphan),
    ("older-claude-code", "result-twice", "first-call", claude_result_twice),
    ("older-claude-code", "result-twice", "open-end", claude_open_result_twice),
    ("opencode", "batch-twice", "first-call", opencode_call_twice),
    ("copilot-cli", "result-missing", "first-call", copilot_result_missing),
    ("copilot-cli", "line-in-two", "last-reply", copilot_line_in_two),
    ("copilot-cli", "zeros", "open-end", copilot_zeros_at_the_end),
]


def replaced(session):
    """Repairs the store and returns the edits and the exit code."""
    store, copy = session.product.store(session), session.home / "repaired"
    code, text = session.ask("repair", session.path(), "--out", copy)
    if copy.exists():
        copy.replace(store)
        for log in ("-wal", "-shm"):
            store.with_name(store.name + log).unlink(missing_ok=True)
    return sorted({line.split(": ", 1)[1] for line in text.splitlines() if line.startswith("  ") and ": " in line}), code


def played(session, fault, spot, plant):
    """Runs one session and returns its row of the report."""
    product = session.product
    product.say(session, "Look around.")
    sound = session.judged()
    plant(product.store(session), session)
    kept = session.home.with_name("kept")
    shutil.copytree(session.home, kept)
    one = session.judged()
    without = fate(later_turns(session))
    rules = sorted(session.state()["refusals"])
    shutil.rmtree(session.home)
    kept.rename(session.home)
    edits, code = replaced(session)
    session.close()
    session.open("--rounds", "0")
    return {
        "system": f"{product.name.removeprefix('older-')}@{product.version(session)}/headless", "plan": f"resumed#seed={session.seed}",
        "planted": fault, "spot": spot, "store": f"{one['product']}, {one['store']}",
        "sound": sound["exit"] == 0, "batch": sound["batches"] > 0, "without": without, "error": rules[0] if rules else None,
        "diagnosis": sorted({refusal["rule"] or "gives-up" for refusal in one["refusals"]}),
        "repair": edits if code == 0 else [], "with": fate(later_turns(session)), "day": datetime.date.today().isoformat(),
    }


def attempted(program, product, fault, spot, plant, seed, scratch):
    """Returns the row of a session, or the reason why there is none."""
    try:
        with Session(program, product, "planted", seed, scratch / f"{product.name}-{fault}-{spot}-{seed}") as session:
            return played(session, fault, spot, plant), None
    except (Wrong, subprocess.TimeoutExpired, OSError, ValueError, StopIteration) as error:
        return None, f"{product.name}, {fault}, {seed}: {type(error).__name__}: {error}"


def main():
    parser = rounds.parser(__doc__)
    parser.add_argument("--only", action="append", help="the name of a product; all by default")
    given = rounds.given(parser, "product and fault", jobs=1)
    by_name = {product.name: product for product in products.PRODUCTS + products.OLDER}
    plans = [(by_name[name], fault, spot, plant, seed) for seed in range(given.first, given.first + given.count)
             for name, fault, spot, plant in FAULTS if not given.only or name in given.only]
    rows, n_failed = judged(attempted, plans, given)
    n_bricked, n_back = bricked(rows)
    # The product continues with the broken store, but Brickbat predicted a rejection.
    n_accused = sum(row["without"] == "goes-on" and bool(row["diagnosis"]) for row in rows)
    print(f"{n_bricked} sessions bricked by a planted fault, {n_back} brought back; {n_accused} working sessions called bricked; "
          f"{n_failed} not judged")
    return 1 if n_back < n_bricked or n_accused else 3 if n_failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
