"""Judges a mutant by the plans: killed, masked, survived, stillborn or not judged."""
import json

from suite import LEFT_OUT, UNJUDGED

# The sizes of the parts in which the plans are run; the last size repeats. Most mutants are killed by the first plans, and
# a run starts the system once.
PARTS = [3, 12, 20]
# The number of plans in a row whose verdict differs from that of the unchanged system.
SHOWN_PLANS = 6
# The verdict and reason of a plan that is not in the report.
LOST = ("not-run", "the report does not have it", None)
# The end of the id of a plan without its fault, which is not run by itself.
CONTROL = "+control"


def parts(plans):
    at, sizes = 0, list(PARTS)
    while at < len(plans):
        size = sizes.pop(0) if len(sizes) > 1 else sizes[0]
        yield plans[at:at + size]
        at += size


class Unchanged:
    """What the suite says of the unchanged system: the causes, the verdicts, and the places that are executed."""

    def __init__(self, causes, verdicts, reached):
        self.causes, self.verdicts, self.reached = set(causes), verdicts, reached
        self.plans = [plan for plan, verdict in verdicts.items() if is_judged(verdict)]
        passing = [plan for plan in self.plans if verdicts[plan] == "pass"]
        failing = [plan for plan in self.plans if verdicts[plan] != "pass"]
        # A run of plans that pass can end at the first that does not. It comes first, and is mostly the last.
        self.parts = [*((part, ["--fail-fast"]) for part in parts(passing)), *((part, []) for part in parts(failing))]

    @classmethod
    def measured(cls, suite, installed, mutants, listed, n_plans):
        """Runs the first plans that can be judged, until there are `n_plans`, and then again with markers."""
        causes, verdicts = set(), {}
        for part in parts(listed):
            outcome = suite.run(part)
            causes |= set(outcome.causes)
            judged = (plan for plan in part if is_judged(outcome.verdicts.get(plan, LOST)[0]))
            verdicts |= {plan: outcome.verdicts[plan][0] for plan in judged}
            if len(verdicts) >= n_plans:
                break
        reached = suite.folder / "reached"
        reached.write_text("")
        numbers = {}
        for mutant in mutants:
            numbers.setdefault((mutant.file, *mutant.mark), len(numbers))
        for file in installed.target["files"]:
            installed.mark(file, {tuple(mark): n for (marked, *mark), n in numbers.items() if marked == file}, reached)
        for part in parts(list(verdicts)[:n_plans]):
            outcome = suite.run(part)
            causes |= set(outcome.causes)
            # A plan that is not judged each time says nothing of a mutant.
            for plan in part:
                verdicts[plan] = min(verdicts[plan], outcome.verdicts.get(plan, LOST)[0], key=is_judged)
        installed.restore()
        hit = {int(line) for line in reached.read_text().split()}
        kept = {plan: verdicts[plan] for plan in list(verdicts)[:n_plans]}
        return cls(causes, kept, [list(mark) for mark, number in numbers.items() if number in hit])

    def is_reached(self, mutant):
        return [mutant.file, *mutant.mark] in self.reached

    def saved(self, file):
        kept = {"causes": sorted(self.causes), "verdicts": self.verdicts, "reached": self.reached}
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
        verdicts = {}
        for part, options in self.unchanged.parts:
            left = part
            while left:
                outcome = self.suite.run(left, *options)
                if killed := self.killed(outcome):
                    return killed
                verdicts |= {plan: outcome.verdicts.get(plan, LOST) for plan in left}
                left = [plan for plan in left if options and verdicts[plan][0] == "not-run"]
                # The run has ended at a plan that does not kill the mutant, so the others run to the end.
                options = []
            if len(verdicts) == len(part) and all(verdict in UNJUDGED for verdict, _, _ in verdicts.values()):
                return {"result": "stillborn", "reason": next(reason for _, reason, _ in verdicts.values())}
        differs = [f"{plan}: {self.unchanged.verdicts[plan]}, now {verdict}"
                   for plan, (verdict, _, _) in verdicts.items() if verdict != self.unchanged.verdicts[plan]]
        ended = self.masked(verdicts) or self.unjudged(verdicts) or {"result": "survived"}
        ended |= {"plans": len(self.unchanged.plans)}
        return ended | ({"differs": differs[:SHOWN_PLANS]} if differs else {})

    def masked(self, verdicts):
        """The first plan that fails only with the mutant, twice, with a cause that the unchanged system has elsewhere."""
        for plan, (verdict, _, _) in verdicts.items():
            if verdict == "fail" and self.unchanged.verdicts[plan] == "pass":
                again, _, check = self.suite.run([plan]).verdicts.get(plan, LOST)
                if again == "fail":
                    return {"result": "masked", "check": check, "plan": plan}
        return None

    def killed(self, outcome):
        """The first cause that only the mutant has, or a control plan that fails. The plan has to fail again, and must not
        do so without the mutant."""
        controls = {f"fails without a fault: {plan}": (plan, check) for plan, (verdict, _, check) in outcome.verdicts.items()
                    if verdict == "fail" and plan.endswith(CONTROL)}
        for cause, (plan, check) in (outcome.causes | controls).items():
            if cause in self.unchanged.causes or not self.shows(plan, cause):
                continue
            self.installed.restore()
            if not self.shows(plan, cause):
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
