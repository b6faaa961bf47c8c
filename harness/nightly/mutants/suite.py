"""Runs plans on a system with `brickbat run` and returns the causes that it reports."""
import hashlib
import json
import os
import shutil
import signal
import subprocess
from collections import namedtuple

import seen

# The longest run. A mutant that makes turns hang ends here, with what was judged until then: 60 plans of the slowest
# target took 200 s at a load of 20 on two cores.
RUN_SECONDS = 600
# Brickbat ends by itself after RUN_SECONDS. It needs a little more to write its report.
GRACE_SECONDS = 120
UNJUDGED = {"vacuous", "inconclusive", "harness-error", "not-run"}
# Plans that the system never gets to.
LEFT_OUT = {"unsupported", "unreachable"}

# The result of a run: `causes` maps the id of a cause to its plan and check, `verdicts` a plan to its verdict, the
# reason of the verdict, and the check that fails, `seen` a plan to hashes of what is seen of it.
Outcome = namedtuple("Outcome", "causes verdicts seen")


class Suite:
    def __init__(self, program, target, cache, folder):
        self.program, self.folder, self.target = program, folder, target
        self.system = f"{target['sdk']}@{target['version']}/{target['mode']}"
        # The adapters of other programs may use the user's cache. These do not.
        self.env = {**os.environ, "BRICKBAT_CACHE": str(cache)}

    def plans(self, seed):
        """Every plan of the dialect: one of each scenario, then a second one, and so on. The seed decides the order."""
        words = [self.program, "run", "--list", "--system", self.system, "--dialect", self.target["dialect"]]
        listed = subprocess.run(words, capture_output=True, text=True, check=True, env=self.env).stdout.split()
        n_before, turns = {}, []
        for plan in sorted(listed, key=lambda plan: hashlib.sha256(f"{seed} {plan}".encode()).hexdigest()):
            scenario = plan.split("@")[0].split("#")[0]
            n_before[scenario] = n_before.get(scenario, -1) + 1
            turns.append((n_before[scenario], len(turns), plan))
        return [plan for _, _, plan in sorted(turns)]

    def run(self, plans, *options):
        """Runs the plans, each once, with further options of `brickbat run`."""
        out, report = self.folder / "out", self.folder / "report.json"
        shutil.rmtree(out, ignore_errors=True)
        report.unlink(missing_ok=True)
        words = [self.program, "run", *plans, "--system", self.system, "--dialect", self.target["dialect"],
                 "--jobs", "1", "--no-confirm", "--quiet", "--timeout", f"{RUN_SECONDS}s", "--out", out, "--report", report, *options]
        code = bounded(words, self.env, RUN_SECONDS + GRACE_SECONDS)
        if code is None:
            return Outcome({}, {plan: ("not-run", "brickbat has not ended in time", None) for plan in plans}, {})
        if not report.exists():
            raise RuntimeError(f"exit {code} without a report: {' '.join(map(str, words))}")
        cases = json.loads(report.read_text())["cases"]
        causes = json.loads((out / "run.json").read_text()).get("causes", [])
        by_plan = {case["plan"]: case for case in cases}
        found = {cause["id"]: (cause["plan"], by_plan[cause["plan"]]["findings"][cause["finding"]]["check"])
                 for cause in causes}
        return Outcome(found, {plan: result_of(case) for plan, case in by_plan.items()}, seen.of_run(out))


def result_of(case):
    """The verdict, its reason, and the check of the worst finding."""
    checks = [finding["check"] for finding in case.get("findings", [])]
    return case["verdict"], case.get("reason", ""), next(iter(checks), None)


def bounded(words, env, seconds):
    """Runs a command for at most this time, and ends all that it started. Returns the exit code, or None after this time."""
    with subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
            return None
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            raise
