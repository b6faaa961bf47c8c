//! Runs plans on a later model as well, if that can change the result.
//!
//! A provider may reject for a later model what it accepts for an older one, such as a request that ends with
//! the model's own message. Running every plan on both would take twice as long, and nearly always show
//! nothing new. So a plan is run on the system's default model, and on the later one only if an accepted
//! request would be rejected there.
//! A finding that only the later model shows names that model.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::repeat::{MergedRuns, PlanToRun, Seen, outranks, round_on_one_model};
use super::system::Running;
use super::{Job, Options};
use brickbat_engine::checks::would_refuse;
use brickbat_engine::triage::Signature;
use brickbat_scenario::verdict::{Finding, Verdict};
use brickbat_scenario::wire;

/// A plan that is to run on a later model, and its result on the first.
struct Held {
    index: usize,
    job: Job,
    shown: MergedRuns,
}

/// Runs plans. Calls `done(index, result)` after each; returns true if `done` asked to stop.
pub(super) async fn round(
    running: &Running,
    todo: &[PlanToRun<'_>],
    options: Options<'_>,
    seen: Seen<'_>,
    done: &mut dyn FnMut(usize, MergedRuns) -> bool,
) -> bool {
    let mut held: Vec<Held> = Vec::new();
    let mut on_done =
        |index: usize, shown: MergedRuns| match on_later_model(running, todo[index].job, &shown, options) {
            Some(job) => {
                // It counts once the other model has been tried, but is reported now.
                seen(todo[index].job, shown.clone());
                held.push(Held { index, job, shown });
                false
            }
            None => done(index, shown),
        };
    let mut stop = round_on_one_model(running, todo, options, seen, &mut on_done).await;
    let again = held.iter().map(|held| PlanToRun {
        job: &held.job,
        control: todo[held.index].control,
        shown: &held.shown.outcome.judgement.findings,
    });
    let again: Vec<PlanToRun<'_>> = again.collect();
    let mut later: Vec<Option<MergedRuns>> = held.iter().map(|_| None).collect();
    if !stop {
        let mut keep = |at: usize, shown: MergedRuns| {
            later[at] = Some(shown);
            false
        };
        round_on_one_model(running, &again, options, seen, &mut keep).await;
    }
    for (held, later) in held.into_iter().zip(later) {
        let shown = match later {
            Some(later) => joined(held.shown, later),
            None => held.shown,
        };
        stop |= done(held.index, shown);
    }
    stop
}

/// The plan on the later model of its dialect, if an accepted request would be rejected there. If the user
/// has named the model, there is no later one. A thread that changes its provider does not belong to one
/// model.
fn on_later_model(running: &Running, job: &Job, shown: &MergedRuns, options: Options<'_>) -> Option<Job> {
    let plan = &job.plan;
    let later = wire::of(plan.dialect)
        .newer_model()
        .filter(|_| plan.model.is_none() && plan.dialects().len() == 1)?;
    let run = shown.outcome.run.as_ref()?;
    let profile = plan.profile_from(options.profiles);
    let is_of_matter = would_refuse(&running.named(plan), run, profile, later);
    is_of_matter.then(|| Job { plan: Arc::new(plan.with_model(later)), path: job.path.clone() })
}

/// A plan's result on both models: the findings of the first, and those that only the second has. The user
/// has not named the second model, so if the system cannot use it, the first result counts.
fn joined(first: MergedRuns, later: MergedRuns) -> MergedRuns {
    if later.outcome.judgement.verdict == Verdict::HarnessError {
        return first;
    }
    let of = |runs: &MergedRuns| runs.outcome.judgement.findings.clone();
    let findings = united(of(&first), of(&later));
    let of = |runs: &MergedRuns| runs.outcome.judgement.application.clone();
    let application = united(of(&first), of(&later));
    let verdict_of = |runs: &MergedRuns| runs.outcome.judgement.verdict;
    let fit = first.fit.clone();
    let is_confirmed = first.is_confirmed && later.is_confirmed;
    let mut joined = if outranks(verdict_of(&later), verdict_of(&first)) { later } else { first };
    joined.outcome.judgement.findings = findings;
    joined.outcome.judgement.application = application;
    // The result of a control plan, how the system runs tools, is the same on every model.
    MergedRuns { fit, is_confirmed, ..joined }
}

/// The findings of both, without duplicate causes.
pub(super) fn united(first: Vec<Finding>, later: Vec<Finding>) -> Vec<Finding> {
    let known: BTreeSet<Signature> = first.iter().map(Signature::of).collect();
    let new = later.into_iter().filter(|finding| !known.contains(&Signature::of(finding)));
    let mut findings: Vec<Finding> = new.collect();
    findings.splice(0..0, first);
    findings.sort_by_key(|finding| finding.severity);
    findings
}
