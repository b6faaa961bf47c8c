"""The table of a report: the results of each SDK by kind, in Markdown."""
from collections import Counter

RESULTS = ["killed", "masked", "survived", "not-judged", "stillborn", "not-reached"]


def share(counts):
    """The killed part of the mutants that the suite could judge."""
    n_judged = counts["killed"] + counts["masked"] + counts["survived"]
    return f"{counts['killed'] / n_judged:.0%}" if n_judged else "–"


def line(sdk, kind, counts):
    return f"| {sdk} | {kind} | " + " | ".join(str(counts[result]) for result in RESULTS) + f" | {share(counts)} |"


def of(rows, sdks, kinds):
    """One line for each SDK and kind with mutants, and one for all of an SDK."""
    lines = [f"| SDK | kind | {' | '.join(RESULTS)} | killed of judged |", "|---" * (len(RESULTS) + 3) + "|"]
    for sdk in sdks:
        own = [row for row in rows if row["sdk"] == sdk]
        for kind in kinds:
            counts = Counter(row["result"] for row in own if row["kind"] == kind)
            if counts:
                lines.append(line(sdk, kind, counts))
        if own:
            lines.append(line(sdk, "all", Counter(row["result"] for row in own)))
    if rows:
        lines.append(line("all", "all", Counter(row["result"] for row in rows)))
    return "\n".join(lines)
