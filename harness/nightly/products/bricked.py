"""Runs products that break their own sessions, repairs the sessions, and continues them in the products.

python bricked.py PROGRAM PRODUCTS SCRATCH REPORT [--count N]

The arguments are those of `healthy.py`. REPORT is the report of `brickbat closed-loop`, to which the sessions are added.
Each turn is a separate process:

1. The user sends a message, and the strict provider answers with a batch of calls and then with text.
2. The user sends two more messages. The provider rejects both, so the session is permanently bricked.
3. `brickbat session` must report this, and `brickbat repair --write` repairs the store in place.
4. The user sends two more messages. The provider answers with text and must not reject a request.

Gemini CLI names its files by the minute. A process that resumes within the minute in which the session was written
continues in the same file, where a repair lasts that would not last otherwise. Only sessions resumed a minute later count.
"""
import datetime
import json
import shutil
import subprocess
import sys

import products
import rounds
from session import Session, Wrong

N_LATER_TURNS = 2


def later_turns(session):
    """Returns the number of rejected later turns."""
    n_refused = 0
    for n in range(N_LATER_TURNS):
        _, before = session.counts()
        try:
            session.product.say(session, f"Go on, {n}.")
        except Wrong:
            pass
        n_refused += session.counts()[1] > before
    return n_refused


def fate(n_refused):
    return {0: "goes-on", N_LATER_TURNS: "bricked"}.get(n_refused, "turn-failed")


def played(session):
    """Runs one session and returns its row of the report."""
    product = session.product
    product.say(session, "Look around.")
    kept = session.home.with_name("kept")
    shutil.copytree(session.home, kept)
    without = fate(later_turns(session))
    rules = sorted(session.state()["refusals"])
    # Rejected turns leave user messages and files behind, so the repair starts from the copy made before them.
    shutil.rmtree(session.home)
    kept.rename(session.home)
    one = session.judged()
    code, text = session.ask("repair", "--write", session.path())
    session.close()
    # Only text, because the product would break every further batch too.
    session.open("--rounds", "0")
    after = fate(later_turns(session))
    edits = {line.split(": ", 1)[1] for line in text.splitlines() if line.startswith("  ") and ": " in line}
    return {
        "system": f"{product.name}@{product.version(session)}/headless", "plan": f"resumed#seed={session.seed}@gemini",
        "spot": "after a batch", "store": f"{one['product']}, {one['store']}", "sound": one["exit"] == 0,
        "batch": one["batches"] > 0, "without": without, "error": rules[0] if rules else None,
        "diagnosis": sorted({refusal["rule"] for refusal in one["refusals"]}),
        "repair": sorted(edits) if code == 0 else [], "with": after, "day": datetime.date.today().isoformat(),
    }


def attempted(program, product, seed, scratch):
    """Returns the row of a session, or the reason why there is none."""
    try:
        with Session(program, product, "bricked", seed, scratch / f"{product.name}-{seed}") as session:
            return played(session), None
    except (Wrong, subprocess.TimeoutExpired, OSError, ValueError) as error:
        return None, f"{product.name}, {seed}: {type(error).__name__}: {error}"


def key(row):
    """The sort key of rows, as in `brickbat closed-loop`."""
    return row["system"], row["plan"], row.get("planted") or "", row.get("spot") or ""


def add(report, row):
    rounds.add(report, row, key, separators=(",", ":"), ensure_ascii=False)


def judged(attempted, plans, given):
    """Returns the rows of the sessions, which are now in the report, and the number of sessions without one."""
    rows = []
    for row in rounds.rows(attempted, plans, given, "not judged"):
        if row is not None:
            rows.append(row)
            add(given.report, row)
            print(json.dumps(row), flush=True)
    return rows, len(plans) - len(rows)


def bricked(rows):
    """Returns the number of bricked sessions, and of those that a repair brought back."""
    bricked = [row for row in rows if row["without"] == "bricked"]
    return len(bricked), sum(row["with"] == "goes-on" and bool(row["repair"]) for row in bricked)


def main():
    given = rounds.given(rounds.parser(__doc__), "product")
    plans = [(product, seed) for seed in range(given.first, given.first + given.count)
             for product in products.BREAKS_ITS_OWN]
    rows, n_failed = judged(attempted, plans, given)
    n_bricked, n_back = bricked(rows)
    print(f"{n_bricked} sessions bricked by their product, {n_back} brought back; {n_failed} not judged")
    return 1 if n_back < n_bricked else 3 if n_failed or not n_bricked else 0


if __name__ == "__main__":
    sys.exit(main())
