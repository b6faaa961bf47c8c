"""Lets real products write healthy sessions and compact, fork and rewind them, and requires that Brickbat finds no fault.

python healthy.py PROGRAM PRODUCTS SCRATCH REPORT [--only PRODUCT] [--count N]

PROGRAM is brickbat, PRODUCTS a folder in which npm has installed the products (see README.md), SCRATCH an empty folder, and
REPORT a JSON file to which the sessions are added. Each session has these steps, and each turn is a separate process:

1. The user sends two messages. The strict provider of `brickbat serve` answers with a batch of calls and then with text.
2. Depending on the kind of session: nothing, a compaction, a fork or a rewind.
3. `brickbat session` judges the stored session, and `brickbat repair` runs on it. It must not change anything.
4. The user sends another message, and step 3 is repeated.
5. The user sends a last message. No request may have been rejected.
"""
import datetime
import json
import subprocess
import sys

import products
import rounds
from session import Session, Wrong


def look(session):
    """Returns Brickbat's judgement of the store, with the exit code of a repair and `changed`, true if it changed anything."""
    one, store = session.judged(), session.product.store(session)
    before, copy = store.read_bytes(), session.home / "repaired"
    repair_code, _ = session.ask("repair", session.path(), "--out", copy)
    is_changed = copy.exists() or store.read_bytes() != before
    return one | {"repair_exit": repair_code, "changed": is_changed}


def written(session):
    """Runs one session and returns its row of the report."""
    product = session.product
    product.say(session, "Look around.")
    product.say(session, "Look again.")
    if session.kind != "resumed":
        getattr(product, session.kind)(session)
    looks = [look(session)]
    product.say(session, "And once more.")
    looks.append(look(session))
    n_before, _ = session.counts()
    product.say(session, "What is there?")
    n_after, n_refused = session.counts()
    if n_after == n_before:
        raise Wrong("the last turn sent no request to the provider")
    most = {key: max(one[key] for one in looks)
            for key in ("exit", "repair_exit", "batches", "compactions", "forks", "off_branch", "changed")}
    last = looks[-1]
    return {
        "product": product.name, "version": last["version"] or product.version(session), "kind": session.kind,
        "seed": session.seed, "store": last["store"], "verdicts": [one["verdict"] for one in looks], **most,
        # The first process begins the session, and each further process resumes it from the store.
        "resumed": session.n_processes - 1, "refused": n_refused, "day": datetime.date.today().isoformat(),
    }


def attempted(program, product, kind, seed, scratch):
    """Returns the row of a session, or the reason why there is none."""
    try:
        with Session(program, product, kind, seed, scratch / f"{product.name}-{kind}-{seed}") as session:
            return written(session), None
    except (Wrong, subprocess.TimeoutExpired, OSError, ValueError) as error:
        return None, f"{product.name}, {kind}, {seed}: {type(error).__name__}: {error}"


def key(row):
    return row["product"], row["version"], row["kind"], row["seed"]


def is_wrong(row):
    """Returns true if the session was reported as broken, was changed, or got a rejected request."""
    return row["exit"] != 0 or row["repair_exit"] != 0 or row["changed"] or row["refused"] > 0


def main():
    parser = rounds.parser(__doc__)
    parser.add_argument("--only", action="append", help="the name of a product; all by default")
    parser.add_argument("--kind", action="append", help="resumed, compacted, forked or rewound; all by default")
    given = rounds.given(parser, "product and kind")
    plans = [(product, kind, seed) for seed in range(given.first, given.first + given.count)
             for product in products.PRODUCTS if not given.only or product.name in given.only
             for kind in product.kinds if not given.kind or kind in given.kind]
    n_rows, n_wrong, n_failed = 0, 0, 0
    for row in rounds.rows(attempted, plans, given, "not written"):
        if row is None:
            n_failed += 1
            continue
        rounds.add(given.report, row, key)
        n_rows, n_wrong = n_rows + 1, n_wrong + is_wrong(row)
        print(f"{'WRONG' if is_wrong(row) else 'ok'}: {json.dumps(row)}", flush=True)
    print(f"{n_rows} healthy sessions, {n_wrong} called broken, changed or refused; {n_failed} not written")
    return 1 if n_wrong else 3 if n_failed or not n_rows else 0


if __name__ == "__main__":
    sys.exit(main())
