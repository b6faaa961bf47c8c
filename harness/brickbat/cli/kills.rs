//! Finds out which scenarios kill which planted bugs, in the simulation, on all cores.
//!
//! It runs only plans that can change the answer: once a scenario has killed a bug in one plan, its other
//! plans are skipped, and a run equal to the reference agent's own is not judged.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use brickbat_drive::runner::Job;
use brickbat_engine::agent::{Agent, Delivery};
use brickbat_engine::checks::Concurrency;
use brickbat_engine::flaws::Canary;
use brickbat_engine::run::Run;
use brickbat_engine::simulate::{assess, play};
use brickbat_scenario::lower;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::verdict::Verdict;

/// For each planted bug, the scenarios with a plan that fails because of the check that must catch the bug.
pub fn kills(jobs: &[Job], canaries: &[Canary]) -> BTreeMap<Canary, BTreeSet<String>> {
    let plans: Vec<&Arc<Plan>> =
        jobs.iter().map(|job| &job.plan).filter(|plan| plan.impossible.is_none()).collect();
    let mut scenarios: Vec<&str> = plans.iter().map(|plan| plan.id.scenario.as_str()).collect();
    scenarios.sort_unstable();
    scenarios.dedup();
    // One flag for each bug and scenario, in that order.
    let flags: Vec<AtomicBool> =
        (0..canaries.len() * scenarios.len()).map(|_| AtomicBool::new(false)).collect();
    let staged = staged(&plans, canaries);
    staged.par_iter().for_each(|stage| {
        let scenario = scenarios.binary_search(&stage.plan.id.scenario.as_str()).unwrap_or_default();
        stage.play(canaries, |canary| &flags[canary * scenarios.len() + scenario]);
    });
    let of = |(index, canary): (usize, &Canary)| {
        let own = &flags[index * scenarios.len()..(index + 1) * scenarios.len()];
        let killers = scenarios.iter().zip(own).filter(|(_, flag)| flag.load(Ordering::Relaxed));
        (*canary, killers.map(|(scenario, _)| (*scenario).to_owned()).collect())
    };
    canaries.iter().enumerate().map(of).collect()
}

/// A plan with the outcomes of its control plan, for the reference agent and for each bug.
struct StagedPlan<'a> {
    plan: &'a Arc<Plan>,
    shown: Arc<ControlOutcomes>,
}

struct ControlOutcomes {
    reference: ControlOutcome,
    canaries: Vec<ControlOutcome>,
}

/// The outcome of running a control plan on an agent.
#[derive(PartialEq)]
enum ControlOutcome {
    /// It passed, with the concurrency observed in the agent.
    Concurrency(Concurrency),
    /// The bug is caught although nothing goes wrong in the plan.
    Killed,
    /// The plans that belong to this control plan cannot be judged.
    Unfit,
}

/// Runs each control plan once.
fn staged<'a>(plans: &[&'a Arc<Plan>], canaries: &[Canary]) -> Vec<StagedPlan<'a>> {
    let keyed: Vec<(String, &Arc<Plan>, Arc<Plan>)> = plans
        .par_iter()
        .map(|plan| {
            let control = lower::control(plan);
            (lower::control_key(&control), *plan, Arc::new(control))
        })
        .collect();
    let controls: BTreeMap<&str, &Arc<Plan>> =
        keyed.iter().map(|(key, _, control)| (key.as_str(), control)).collect();
    let controls: Vec<(&str, &Arc<Plan>)> = controls.into_iter().collect();
    let shown: BTreeMap<&str, Arc<ControlOutcomes>> = controls
        .par_iter()
        .map(|(key, control)| (*key, Arc::new(ControlOutcomes::of(control, canaries))))
        .collect();
    keyed
        .iter()
        .filter_map(|(key, plan, _)| Some(StagedPlan { plan, shown: Arc::clone(shown.get(key.as_str())?) }))
        .collect()
}

impl ControlOutcomes {
    fn of(control: &Arc<Plan>, canaries: &[Canary]) -> ControlOutcomes {
        let shape = |canary| {
            let run = run(control, canary, None);
            let judgement = assess(control, &run, None);
            let is_meant =
                |canary: Canary| judgement.findings.iter().any(|found| found.check == canary.caught_by());
            match judgement.verdict {
                Verdict::Pass => ControlOutcome::Concurrency(Concurrency::of(control, &run.trace)),
                Verdict::Fail if canary.is_some_and(is_meant) => ControlOutcome::Killed,
                _ => ControlOutcome::Unfit,
            }
        };
        ControlOutcomes {
            reference: shape(None),
            canaries: canaries.iter().map(|canary| shape(Some(*canary))).collect(),
        }
    }
}

impl StagedPlan<'_> {
    /// Runs the plan on every bug that its scenario has not killed yet. `flag` returns the mark for a killed
    /// bug.
    fn play<'f>(&self, canaries: &[Canary], flag: impl Fn(usize) -> &'f AtomicBool) {
        let right = match &self.shown.reference {
            ControlOutcome::Concurrency(concurrency) => Some(run(self.plan, None, Some(concurrency))),
            ControlOutcome::Killed | ControlOutcome::Unfit => None,
        };
        for (index, canary) in canaries.iter().enumerate() {
            let flag = flag(index);
            if flag.load(Ordering::Relaxed) || canary.senseless_in(self.plan.dialect).is_some() {
                continue;
            }
            let killed = match &self.shown.canaries[index] {
                ControlOutcome::Killed => true,
                ControlOutcome::Unfit => false,
                ControlOutcome::Concurrency(concurrency) => {
                    let known = right.as_ref().filter(|_| self.shown.canaries[index] == self.shown.reference);
                    kills_in(self.plan, *canary, concurrency, known)
                }
            };
            if killed {
                flag.store(true, Ordering::Relaxed);
            }
        }
    }
}

/// True if a plan kills a bug. `right` is the reference agent's run, if its control outcome is the same.
fn kills_in(plan: &Arc<Plan>, canary: Canary, concurrency: &Concurrency, right: Option<&Run>) -> bool {
    let run = run(plan, Some(canary), Some(concurrency));
    if right == Some(&run) {
        return false;
    }
    let judgement = assess(plan, &run, Some(concurrency));
    let meant = judgement.findings.iter().any(|finding| finding.check == canary.caught_by());
    judgement.verdict == Verdict::Fail && meant
}

fn run(plan: &Arc<Plan>, canary: Option<Canary>, concurrency: Option<&Concurrency>) -> Run {
    play(plan, Agent::of_plan(plan, Delivery::Streamed, canary), concurrency)
}
