//! Runs plans, several at a time, and repeats those that one run cannot decide.
//!
//! A plan that fails is run a second time: alone, to rule out other plans as the cause, and with longer
//! waits, to rule out a slow machine. If the runs differ, it is run alone twice more. A finding of a run
//! alone counts. It is labelled with its frequency and with the differences on the harness side. A finding
//! that appeared only in runs among other plans, or only in runs with shorter waits, does not count, because
//! two runs under the same load prove nothing: the case lists it as rescued.
//!
//! If the provider would have rejected for a later model what it accepted for the default one, the plan is
//! run again on that model ([`super::models`]).

use std::cell::Cell;
use std::collections::BTreeSet;

use futures::stream::{self, StreamExt};

use super::system::{Company, Running};
use super::{Attempt, Job, Options, attempt, models};
use brickbat_engine::checks::Concurrency;
use brickbat_engine::run::Run;
use brickbat_engine::triage::Signature;
use brickbat_report::causes;
use brickbat_report::report::{Repeats, SeenFinding};
use brickbat_scenario::plan::Plan;
use brickbat_scenario::trace::Event;
use brickbat_scenario::verdict::{Finding, Judgement, Severity, Verdict};

/// The number of runs for a plan on its own when its results differ. Including the first run, there
/// are four, which is enough to distinguish often from rarely.
const ALONE_RUNS: usize = 3;

/// Plans that are run again alone because the adapter failed. One plan that ends a process makes at most the
/// concurrently running plans fail. If more fail, the adapter is broken.
const MAX_RETRIED: usize = 32;

/// If this many plans in a row fail again alone, the adapter is broken, regardless of the plan.
const MAX_BROKEN: usize = 4;

/// A plan to run, and the result of its control plan.
pub(super) struct PlanToRun<'a> {
    pub(super) job: &'a Job,
    pub(super) control: Option<&'a Control>,
    /// Its findings on another model.
    pub(super) shown: &'a [Finding],
}

impl<'a> PlanToRun<'a> {
    /// A plan that has not run before.
    pub(super) fn first(job: &'a Job, control: Option<&'a Control>) -> PlanToRun<'a> {
        PlanToRun { job, control, shown: &[] }
    }
}

/// Called with the intermediate result of a plan, before it counts. Returns true if it would make the run
/// red.
pub(super) type Seen<'a> = &'a dyn Fn(&Job, MergedRuns) -> bool;

/// The result of a control plan on a system.
pub(super) struct Control {
    pub(super) concurrency: Concurrency,
    /// Faults that occur in the system even without an injected fault.
    pub(super) causes: Vec<Signature>,
}

pub(super) struct PlanRun {
    pub(super) outcome: Attempt,
    /// The number of the adapter's process, if there is one.
    pub(super) process: Option<u32>,
    pub(super) company: Company,
}

/// All runs of a plan in one.
#[derive(Clone)]
pub(super) struct MergedRuns {
    /// The first run with that verdict, with the findings from all runs.
    pub(super) outcome: Attempt,
    pub(super) repeats: Option<Repeats>,
    /// A run with a complete conversation: one that passed, otherwise one whose findings do not end the
    /// conversation.
    pub(super) fit: Option<Run>,
    /// True if the verdict is final; otherwise the plan was to run again.
    pub(super) is_confirmed: bool,
}

impl MergedRuns {
    /// The result of this control plan, if the system can hold a conversation.
    pub(super) fn control(&self, plan: &Plan) -> Option<Control> {
        let concurrency = Concurrency::of(plan, &self.fit.as_ref()?.trace);
        let found = self.outcome.judgement.findings.iter().flat_map(Finding::with_also);
        let is_omitted =
            |severity: Severity| !severity.ends_conversation() && !severity.counts_beside_control();
        let causes = found.filter(|it| is_omitted(it.severity)).map(Signature::of).collect();
        Some(Control { concurrency, causes })
    }
}

impl From<Attempt> for MergedRuns {
    fn from(outcome: Attempt) -> MergedRuns {
        MergedRuns { outcome, repeats: None, fit: None, is_confirmed: true }
    }
}

/// Runs plans on one model. Calls `done(index, result)` after each; returns true if `done` asked to stop.
///
/// The first plan with a cause is confirmed before further plans begin, so that a run that is stopped has
/// confirmed what it has seen. Other plans with that cause are confirmed at the end. If the first red plan is to
/// end the run, each plan that may be red is confirmed before further ones begin.
pub(super) async fn round_on_one_model(
    running: &Running,
    todo: &[PlanToRun<'_>],
    options: Options<'_>,
    seen: Seen<'_>,
    done: &mut dyn FnMut(usize, MergedRuns) -> bool,
) -> bool {
    let mut rest = todo.iter().enumerate();
    let mut retried = Retried { running, todo, options, broken: Vec::new(), n_tried: 0, n_in_a_row: 0 };
    let mut stop = false;
    let mut known: BTreeSet<Signature> = BTreeSet::new();
    let mut doubtful = Vec::new();
    loop {
        let is_held = Cell::new(false);
        {
            let next = std::iter::from_fn(|| if is_held.get() { None } else { rest.next() });
            let results = stream::iter(next)
                .map(async |(index, todo)| (index, together(running, todo, options).await))
                .buffer_unordered(options.n_jobs);
            let mut results = std::pin::pin!(results);
            while let Some((index, runs)) = results.next().await {
                if options.repeat.confirm && is_doubtful(&runs) {
                    let news = news(&runs, &known);
                    let is_new = !news.is_empty();
                    known.extend(news);
                    let suspect = suspect(&todo[index], &runs);
                    let is_red = suspect.is_some_and(|suspect| seen(todo[index].job, suspect));
                    is_held.set(is_new || is_red || is_held.get());
                    doubtful.push((index, is_new || is_red, runs));
                } else if done(index, merged(runs)) {
                    stop = true;
                    break;
                }
            }
        }
        let is_end = stop || rest.len() == 0;
        let (mut now, later): (Vec<_>, Vec<_>) =
            doubtful.into_iter().partition(|(_, is_urgent, _)| is_end || *is_urgent);
        doubtful = later;
        now.sort_by_key(|(index, _, _)| *index);
        for (index, _, runs) in now {
            let is_confirmed = !stop;
            let runs = if stop { runs } else { retried.again(index, runs).await };
            let suspected = news(&runs, &BTreeSet::new());
            if runs.iter().any(PlanRun::is_broken) {
                retried.broken.push((index, runs));
                continue;
            }
            let merged = merged(runs);
            // The next plan that shows a cause that did not recur is confirmed at once, too.
            let recurs = |cause: &Signature| cause.is_among(&merged.outcome.judgement.findings);
            known.retain(|cause| !suspected.contains(cause) || recurs(cause));
            stop |= done(index, MergedRuns { is_confirmed, ..merged });
        }
        if is_end || stop {
            break;
        }
    }
    // If the run is to stop, what is left is reported as it was seen.
    for (index, _, runs) in doubtful {
        if runs.iter().any(PlanRun::is_broken) {
            retried.broken.push((index, runs));
        } else {
            done(index, MergedRuns { is_confirmed: false, ..merged(runs) });
        }
    }
    absolve(&mut retried.broken);
    for (index, runs) in retried.broken {
        let is_confirmed = runs.iter().any(|run| run.company == Company::Suspect);
        stop |= done(index, MergedRuns { is_confirmed, ..merged(runs) });
    }
    stop
}

/// The plans that are run again, alone.
struct Retried<'a> {
    running: &'a Running,
    todo: &'a [PlanToRun<'a>],
    options: Options<'a>,
    /// Plans with a run that broke the adapter. The culprit is known only after all of them have run
    /// again.
    broken: Vec<(usize, Vec<PlanRun>)>,
    /// The number of plans that were retried because the adapter failed, and how many of the most recent ones
    /// failed again.
    n_tried: usize,
    n_in_a_row: usize,
}

impl Retried<'_> {
    /// The runs of a doubtful plan, followed by runs alone that decide what they mean.
    async fn again(&mut self, index: usize, mut runs: Vec<PlanRun>) -> Vec<PlanRun> {
        let is_broken = runs.iter().all(PlanRun::is_broken);
        if is_broken && (self.n_tried == MAX_RETRIED || self.n_in_a_row == MAX_BROKEN) {
            return runs;
        }
        runs.push(self.once(index).await);
        if is_broken {
            self.n_tried += 1;
            self.n_in_a_row = if runs.iter().all(PlanRun::is_broken) { self.n_in_a_row + 1 } else { 0 };
            if runs.last().is_some_and(PlanRun::has_failed) {
                runs.push(self.once(index).await);
            }
        } else if differ(&runs) {
            for _ in 1..ALONE_RUNS {
                runs.push(self.once(index).await);
            }
        }
        runs
    }

    async fn once(&self, index: usize) -> PlanRun {
        once(self.running, &self.todo[index], self.options, Company::Suspect).await
    }
}

/// The causes in a plan's first runs that no plan has shown so far.
fn news(runs: &[PlanRun], known: &BTreeSet<Signature>) -> Vec<Signature> {
    let failed = runs.iter().filter(|run| run.has_failed());
    let findings = failed.flat_map(|run| &run.outcome.judgement.findings).map(Signature::of);
    findings.filter(|signature| !known.contains(signature)).collect()
}

/// The findings from a plan's first runs, if there are any.
fn suspect(todo: &PlanToRun<'_>, runs: &[PlanRun]) -> Option<MergedRuns> {
    let mut outcome = runs.iter().find(|run| run.has_failed())?.outcome.clone();
    let findings = models::united(todo.shown.to_vec(), outcome.judgement.findings);
    outcome.judgement.findings = findings;
    Some(MergedRuns { is_confirmed: false, ..outcome.into() })
}

/// The first runs of a plan, while others may run.
async fn together(running: &Running, todo: &PlanToRun<'_>, options: Options<'_>) -> Vec<PlanRun> {
    let company = if options.n_jobs == 1 { Company::Alone } else { Company::Others };
    let mut runs = Vec::new();
    for _ in 0..options.repeat.times {
        runs.push(once(running, todo, options, company).await);
    }
    runs
}

async fn once(running: &Running, todo: &PlanToRun<'_>, options: Options<'_>, company: Company) -> PlanRun {
    let (outcome, process) = attempt(running, &todo.job.plan, todo.control, options, company).await;
    PlanRun { outcome, process, company }
}

impl PlanRun {
    fn verdict(&self) -> Verdict {
        self.outcome.judgement.verdict
    }

    fn has_failed(&self) -> bool {
        self.verdict() == Verdict::Fail
    }

    fn is_broken(&self) -> bool {
        self.verdict() == Verdict::HarnessError
    }

    fn is_alone(&self) -> bool {
        self.company != Company::Others
    }

    /// True if the harness gave up waiting for the system.
    fn gave_up(&self) -> bool {
        let events = self.outcome.run.iter().flat_map(|run| run.trace.events());
        events.into_iter().any(|event| *event == Event::GaveUp)
    }

    /// The part of the result in which runs are compared.
    fn signature(&self) -> (Verdict, BTreeSet<(Severity, &'static str)>) {
        (self.verdict(), self.outcome.judgement.findings.iter().map(kind).collect())
    }

    fn shows(&self, wanted: (Severity, &str)) -> bool {
        self.outcome.judgement.findings.iter().any(|finding| kind(finding) == wanted)
    }

    fn waited(&self) -> bool {
        let is_wait = |event: &Event| matches!(event, Event::Quiet | Event::GaveUp);
        self.outcome.run.as_ref().is_some_and(|run| run.trace.events().iter().any(is_wait))
    }

    fn grades(&self) -> Vec<(bool, Option<brickbat_scenario::trace::Confidence>)> {
        self.outcome.receipts.iter().map(|receipt| (receipt.fired, receipt.grade)).collect()
    }
}

fn kind(finding: &Finding) -> (Severity, &'static str) {
    (finding.severity, finding.check)
}

/// True if the runs must not be final: they differ, or have a result that a single run may have by chance. A
/// failure of the adapter is doubtful if other plans may have caused it.
fn is_doubtful(runs: &[PlanRun]) -> bool {
    let is_once = runs.len() == 1;
    let may_be_chance = |run: &PlanRun| match run.verdict() {
        Verdict::Fail => is_once || !run.is_alone(),
        Verdict::Vacuous => !run.is_alone(),
        Verdict::HarnessError => !run.is_alone(),
        Verdict::Pass
        | Verdict::Inconclusive
        | Verdict::Unreachable
        | Verdict::Unsupported
        | Verdict::NotRun => false,
    };
    differ(runs) || runs.iter().any(may_be_chance)
}

fn differ(runs: &[PlanRun]) -> bool {
    runs.windows(2).any(|pair| pair[0].signature() != pair[1].signature())
}

/// Removes the failures of the adapter that another plan has caused: those in a process that also ran a plan
/// that makes the adapter fail even alone. If no such plan is found, every failure stays.
fn absolve(doubtful: &mut [(usize, Vec<PlanRun>)]) {
    let is_culprit = |runs: &[PlanRun]| runs.iter().any(|run| run.is_alone() && run.is_broken());
    let sick: BTreeSet<u32> = doubtful
        .iter()
        .filter(|(_, runs)| is_culprit(runs))
        .flat_map(|(_, runs)| runs.iter().filter(|run| run.is_broken()).filter_map(|run| run.process))
        .collect();
    for (_, runs) in doubtful.iter_mut().filter(|(_, runs)| !is_culprit(runs)) {
        let has_other = runs.iter().any(|run| !run.is_broken());
        let is_caused =
            |run: &PlanRun| run.is_broken() && run.process.is_some_and(|process| sick.contains(&process));
        if has_other {
            runs.retain(|run| !is_caused(run));
        }
    }
}

/// The order of verdicts when runs differ: a finding stays a finding, and a broken adapter stays broken.
const RANK: [Verdict; 8] = [
    Verdict::Fail,
    Verdict::HarnessError,
    Verdict::Vacuous,
    Verdict::Inconclusive,
    Verdict::NotRun,
    Verdict::Unreachable,
    Verdict::Unsupported,
    Verdict::Pass,
];

/// True if `this` is the verdict that counts.
pub(super) fn outranks(this: Verdict, other: Verdict) -> bool {
    let rank = |verdict| RANK.iter().position(|known| *known == verdict);
    rank(this) < rank(other)
}

/// The runs on which the verdict rests. If a plan has run alone, the results of other runs are not proven,
/// except that the adapter broke. If it ran with longer waits, a result after a shorter wait is not proven
/// either.
fn basis(runs: &[PlanRun]) -> Vec<usize> {
    let has_been = |company: Company| runs.iter().any(|run| run.company == company && !run.is_broken());
    let counts = |run: &PlanRun| match run.company {
        Company::Suspect => true,
        Company::Alone => !(has_been(Company::Suspect) && run.gave_up()),
        Company::Others if run.is_broken() => !run.outcome.is_late,
        Company::Others => false,
    };
    let all = 0..runs.len();
    if has_been(Company::Suspect) { all.filter(|at| counts(&runs[*at])).collect() } else { all.collect() }
}

fn merged(mut runs: Vec<PlanRun>) -> MergedRuns {
    let basis = basis(&runs);
    let ranked =
        RANK.into_iter().find_map(|verdict| basis.iter().copied().find(|at| runs[*at].verdict() == verdict));
    let Some(at) = ranked else { return Attempt::unjudged(Verdict::NotRun, "it was not run").into() };
    let verdict = runs[at].verdict();
    let found =
        |of: fn(&Judgement) -> &[Finding]| united(basis.iter().map(|at| of(&runs[*at].outcome.judgement)));
    let findings = found(|judgement| &judgement.findings);
    let application = found(|judgement| &judgement.application);
    let repeats = (runs.len() > 1).then(|| repeats(&runs, verdict, &findings));
    let counted: Vec<&PlanRun> = basis.iter().map(|at| &runs[*at]).collect();
    let findings = without_rarer(findings, &counted);
    let passed = runs.iter().position(|run| run.verdict() == Verdict::Pass);
    let is_held = !findings.iter().any(|finding| finding.severity.ends_conversation());
    let failed = basis.iter().copied().find(|at| runs[*at].has_failed());
    let fit = passed.or(failed.filter(|_| is_held));
    let fit = fit.and_then(|at| runs[at].outcome.run.clone());
    let mut outcome = runs.swap_remove(at).outcome;
    outcome.judgement.findings = findings;
    outcome.judgement.application = application;
    MergedRuns { outcome, repeats, fit, is_confirmed: true }
}

/// The findings of all runs. For each kind of finding, all locations come from the first run in which it
/// occurs.
fn united<'a>(runs: impl Iterator<Item = &'a [Finding]>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for run in runs {
        let known: BTreeSet<_> = findings.iter().map(kind).collect();
        let new = run.iter().filter(|finding| !known.contains(&kind(finding)));
        findings.extend(new.cloned().collect::<Vec<Finding>>());
    }
    findings.sort_by_key(|finding| finding.severity);
    findings
}

/// Removes findings that would be folded under one that occurred in more of the runs, because occasional
/// findings do not describe the bug. The case still counts how often they were seen.
fn without_rarer(findings: Vec<Finding>, runs: &[&PlanRun]) -> Vec<Finding> {
    let n_runs = |finding: &Finding| runs.iter().filter(|run| run.shows(kind(finding))).count();
    let of_head = |mut head: Finding| {
        let n_head = n_runs(&head);
        let also = std::mem::take(&mut head.also);
        std::iter::once(head).chain(also.into_iter().filter(move |also| n_runs(also) >= n_head))
    };
    let mut kept: Vec<Finding> = causes::fold(findings).into_iter().flat_map(of_head).collect();
    kept.sort_by_key(|finding| finding.severity);
    kept
}

fn repeats(runs: &[PlanRun], verdict: Verdict, findings: &[Finding]) -> Repeats {
    let count = |is_counted: &dyn Fn(&&PlanRun) -> bool| runs.iter().filter(is_counted).count() as u32;
    let kinds: BTreeSet<(Severity, &'static str)> = findings.iter().map(kind).collect();
    let of = runs.len() as u32;
    let seen = |kind: (Severity, &'static str)| SeenFinding {
        check: kind.1.to_owned(),
        severity: kind.0,
        seen: count(&|run| run.shows(kind)),
    };
    let ran_alone = runs.iter().any(PlanRun::is_alone);
    let all: BTreeSet<(Severity, &'static str)> =
        runs.iter().flat_map(|run| &run.outcome.judgement.findings).map(kind).collect();
    let repeats = Repeats {
        seen: count(&|run| run.verdict() == verdict),
        of,
        alone: ran_alone.then(|| runs.iter().any(|run| run.is_alone() && run.verdict() == verdict)),
        rescued: all.difference(&kinds).copied().map(seen).collect(),
        findings: kinds.into_iter().map(seen).filter(|seen| seen.seen < of).collect(),
        suspects: Vec::new(),
    };
    if repeats.is_steady() { repeats } else { Repeats { suspects: suspects(runs), ..repeats } }
}

/// Differences on the side of the harness between the runs with the first result and the others.
fn suspects(runs: &[PlanRun]) -> Vec<String> {
    let Some(first) = runs.first() else { return Vec::new() };
    let (alike, others): (Vec<&PlanRun>, Vec<&PlanRun>) =
        runs.iter().partition(|run| run.signature() == first.signature());
    let mut suspects = Vec::new();
    let grades = |runs: &[&PlanRun]| runs.iter().map(|run| run.grades()).collect::<BTreeSet<_>>();
    if grades(&alike).is_disjoint(&grades(&others)) {
        suspects.push("the receipts differ too");
    }
    // True if a property holds for all runs on one side and for none on the other.
    let splits = |holds: fn(&PlanRun) -> bool| {
        let all = |runs: &[&PlanRun]| runs.iter().all(|run| holds(run));
        let none = |runs: &[&PlanRun]| !runs.iter().any(|run| holds(run));
        (all(&alike) && none(&others)) || (none(&alike) && all(&others))
    };
    if splits(PlanRun::waited) {
        suspects.push("the harness waited without success in only some of the runs");
    }
    let processes = |runs: &[&PlanRun]| runs.iter().filter_map(|run| run.process).collect::<BTreeSet<u32>>();
    let (one, other) = (processes(&alike), processes(&others));
    if !one.is_empty() && !other.is_empty() && one.is_disjoint(&other) {
        suspects.push("the adapter was restarted between the runs");
    }
    if splits(PlanRun::is_alone) {
        suspects.push("it depends on whether other plans run at the same time");
    }
    suspects.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
