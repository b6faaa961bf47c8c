"""Judges a mutant by the plans: killed, masked, survived, stillborn or not judged."""
import json

import seen
from suite import LEFT_OUT, UNJUDGED

# The number of plans that the unchanged system runs at once, until enough have been judged.
PART = 20
# The number of plans that are marked together: a mutant runs all of them if one of them executes its place. Plans with
# similar names are in one group.
GROUP = 4
# The number of plans in a row in which something else is seen than with the unchanged system.
SHOWN_PLANS = 6
# The verdicts of plans on a system that does not start.
BROKEN = {"harness-error", "inconclusive"}
# The verdict and reason of a plan that is not in the report.
LOST = ("not-run", "the report does not have it", None)
# The end of the id of a plan without its fault, which is not run by itself.
CONTROL = "+control"


def parts(plans, size=PART):
    return [plans[at:at + size] for at in range(0, len(plans), size)]


class Unchanged:
    """What the suite says of the unchanged system: the causes, the verdicts, the places that are executed, and what is seen."""

    def __init__(self, causes, verdicts, reached, seen):
        self.causes, self.verdicts, self.seen = set(causes), verdicts, seen
        # The plans that execute a place, by the file and the mark of the place.
        self.reached = {tuple(place): set(plans) for place, plans in reached}
        self.plans = [plan for plan, verdict in verdicts.items() if is_judged(verdict)]

    def runs(self, mutant):
        """The plans that execute the place of a mutant. A run of plans that pass can end at the first that does not, so it
        comes first, and is mostly the last."""
        own = self.reached.get((mutant.file, *mutant.mark), set())
        passing = [plan for plan in self.plans if plan in own and self.verdicts[plan] == "pass"]
        failing = [plan for plan in self.plans if plan in own and self.verdicts[plan] != "pass"]
        return [(plans, options) for plans, options in ((passing, ["--fail-fast"]), (failing, [])) if plans]

    @classmethod
    def measured(cls, suite, installed, mutants, listed, n_plans):
        """Runs the first plans that can be judged, until there are `n_plans`, and then again with markers."""
        causes, verdicts, usual = set(), {}, {}
        for part in parts(listed):
            outcome = suite.run(part)
            causes |= set(outcome.causes)
            usual |= outcome.seen
            judged = (plan for plan in part if is_judged(outcome.verdicts.get(plan, LOST)[0]))
            verdicts |= {plan: outcome.verdicts[plan][0] for plan in judged}
            if len(verdicts) >= n_plans:
                break
        verdicts = dict(list(verdicts.items())[:n_plans])
        file, numbers = suite.folder / "reached", {}
        for mutant in mutants:
            numbers.setdefault((mutant.file, *mutant.mark), len(numbers))
        for name in installed.target["files"]:
            installed.mark(name, {tuple(mark): n for (marked, *mark), n in numbers.items() if marked == name}, file)
        again, reached = {}, {place: [] for place in numbers}
        for part in parts(sorted(verdicts), GROUP):
            file.write_text("")
            outcome = suite.run(part)
            causes |= set(outcome.causes)
            again |= outcome.seen
            hit = {int(line) for line in file.read_text().split()}
            for place, number in numbers.items():
                reached[place] += part if number in hit else []
            # A plan that is not judged each time says nothing of a mutant.
            for plan in part:
                verdicts[plan] = min(verdicts[plan], outcome.verdicts.get(plan, LOST)[0], key=is_judged)
        installed.restore()
        return cls(causes, verdicts, [pair for pair in reached.items() if pair[1]], seen.steady(usual, again))

    def saved(self, file):
        reached = [[place, sorted(plans)] for place, plans in self.reached.items()]
        kept = {"causes": sorted(self.causes), "verdicts": self.verdicts, "reached": reached, "seen": self.seen}
        file.write_text(json.dumps(kept, indent=1))

    @classmethod
    def read(cls, file):
        return cls(**json.loads(file.read_text()))


def is_judged(verdict):
    return verdict not in UNJUDGED | LEFT_OUT


class Trial:
    """One mutant in the installed copy."""

    def __init__(self, suite, installed, unchanged, mutant):
        self.suite, self.installed, self.unchanged, self.mutant = suite, installed, unchanged, mutant

    def result(self):
        """The part of the mutant's row that says what came of it."""
        self.runs = self.unchanged.runs(self.mutant)
        if not self.runs:
            return {"result": "not-reached", "plans": len(self.unchanged.plans)}
        self.change()
        try:
            if self.installed.refused(self.mutant.file):
                return {"result": "stillborn"}
            return self.judged()
        finally:
            self.installed.restore()

    def change(self):
        file = self.mutant.file
        self.installed.write(file, self.mutant.applied(self.installed.source(file)))

    def judged(self):
        verdicts, now = {}, {}
        for plans, options in self.runs:
            left = plans
            while left:
                outcome = self.suite.run(left, *options)
                if killed := self.killed(outcome):
                    return killed
                verdicts |= {plan: outcome.verdicts.get(plan, LOST) for plan in left}
                now |= outcome.seen
                # The run has ended at a plan that does not kill the mutant.
                behind = [plan for plan in left if verdicts[plan][0] == "not-run"]
                left = behind if len(behind) < len(left) else []
            if len(verdicts) == len(plans) and all(verdict in BROKEN for verdict, _, _ in verdicts.values()):
                return {"result": "stillborn", "reason": next(reason for _, reason, _ in verdicts.values())}
        ended = self.masked(verdicts) or self.unjudged(verdicts) or {"result": "survived"}
        differs = seen.differences(self.unchanged.seen, now)
        return ended | {"plans": len(self.unchanged.plans), "ran": len(verdicts), "seen_in": len(differs),
                        "seen": [f"{plan}: {', '.join(parts)}" for plan, parts in list(differs.items())[:SHOWN_PLANS]]}

    def masked(self, verdicts):
        """The first plan that fails only with the mutant, twice, with a cause that the unchanged system has elsewhere."""
        for plan, (verdict, _, _) in verdicts.items():
            if verdict == "fail" and self.unchanged.verdicts[plan] == "pass":
                again, _, check = self.suite.run([plan]).verdicts.get(plan, LOST)
                if again == "fail":
                    return {"result": "masked", "check": check, "plan": plan}
        return None

    def killed(self, outcome):
        """The first cause that only the mutant has, or a control plan that fails. The plan has to show it again, and must
        not do so without the mutant."""
        controls = {f"fails without a fault: {plan}": (plan, check) for plan, (verdict, _, check) in outcome.verdicts.items()
                    if verdict == "fail" and plan.endswith(CONTROL)}
        for cause, (plan, check) in (outcome.causes | controls).items():
            if cause in self.unchanged.causes or not self.shows(plan, cause):
                continue
            self.installed.restore()
            # A plan that passed twice need not be asked again.
            if self.unchanged.verdicts.get(plan.removesuffix(CONTROL)) == "pass" or not self.shows(plan, cause):
                return {"result": "killed", "check": check, "plan": plan} | ({} if cause in controls else {"cause": cause})
            self.unchanged.causes.add(cause)
            self.change()
        return None

    def shows(self, plan, cause):
        """True if one more run of a plan has this cause, or fails where the cause is a control plan."""
        outcome = self.suite.run([plan.removesuffix(CONTROL)])
        return cause in outcome.causes or plan.endswith(CONTROL) and outcome.verdicts.get(plan, LOST)[0] == "fail"

    def unjudged(self, verdicts):
        """The first plan that only the mutant keeps from being judged, twice."""
        for plan, (verdict, reason, _) in verdicts.items():
            if verdict not in UNJUDGED:
                continue
            again = self.suite.run([plan]).verdicts.get(plan, LOST)
            if again[0] in UNJUDGED:
                return {"result": "not-judged", "plan": plan, "reason": f"{again[0]}: {again[1]}"}
        return None
