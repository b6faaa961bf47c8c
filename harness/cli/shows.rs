//! Whether scenarios show a cause on a system that is up, and the smallest that does.

use std::collections::BTreeMap;
use std::sync::Arc;

use brickbat_drive::runner::{Job, Options, Repeat, Started};
use brickbat_engine::agent::canary::Canary;
use brickbat_engine::agent::{Agent, Delivery};
use brickbat_engine::simulate::judged;
use brickbat_engine::triage::Signature;
use brickbat_report::report::Case;
use brickbat_scenario::lower;
use brickbat_scenario::plan::Plan;
use brickbat_scenario::scenario::{Provenance, Scenario};
use brickbat_scenario::verdict::{Finding, Verdict};
use brickbat_search::shrink::{Rate, Setting, Shrinker};

/// How much is done to make a scenario small.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Candidates at the most.
    pub budget: usize,
    /// Candidates at once. More are done sooner, and take more runs.
    pub at_once: usize,
    /// How often the scenario shows the cause; of what comes and goes, each candidate is run several times.
    pub rate: Rate,
}

/// What shrinking has come to.
#[derive(Debug, Clone)]
pub struct Shrunk {
    /// The smallest scenario that still shows the cause.
    pub scenario: Scenario,
    /// Candidates that were run.
    pub n_runs: usize,
    /// Whether no single element can be taken out any more.
    pub is_minimal: bool,
}

/// Runs each scenario so many times, and gives the case of each run: that of its control plan, if that does not pass.
/// A scenario that cannot be lowered has none.
pub async fn ask(
    started: &Started,
    setting: Setting<'_>,
    scenarios: &[Scenario],
    times: u32,
    options: Options<'_>,
) -> Vec<Vec<Case>> {
    let mut jobs = Vec::new();
    let mut of: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for (at, scenario) in scenarios.iter().enumerate() {
        for run in 0..times {
            // Ids of plans differ, and what is minted does not.
            let variant = format!("{at}.{run}");
            let plan = lower::lower(setting.id, &variant, scenario, setting.dialect, setting.seed);
            let Ok(plan) = plan else { continue };
            of.insert(plan.id.to_string(), (at, lower::control_key(&lower::control(&plan))));
            jobs.push(Job { plan: Arc::new(plan), path: None });
        }
    }
    let options = Options { repeat: Repeat::ONCE, fail_fast: None, shard: None, ..options };
    let cases = started.run(&jobs, options, &|_, _, _| {}).await;
    let controls: BTreeMap<&str, &Case> = cases
        .iter()
        .filter_map(|case| Some((of.get(case.plan.strip_suffix("+control")?)?.1.as_str(), case)))
        .collect();
    let mut told = vec![Vec::new(); scenarios.len()];
    for case in &cases {
        let Some((at, key)) = of.get(&case.plan) else { continue };
        let deciding = match case.judged {
            Verdict::Inconclusive => controls.get(key.as_str()).copied().unwrap_or(case),
            _ => case,
        };
        told[*at].push(deciding.clone());
    }
    told
}

/// Whether a case shows a cause.
pub fn shows(case: &Case, cause: &Signature) -> bool {
    case.judged == Verdict::Fail && cause.is_among(&case.findings)
}

/// The planted bug that shows what a scenario was found to show, in the simulation; the one that it names comes first,
/// and that on which it was found.
pub fn planted(scenario: &Scenario, found: &Provenance) -> Option<String> {
    let plan = lower::lower(PLANTED, "", scenario, found.dialect, found.seed).ok()?;
    let cause = Signature::of_found(found);
    let own = found.system.strip_prefix("canary/").map(|rest| rest.split('/').next().unwrap_or(rest));
    let named = found.canary.as_deref().or(own).and_then(Canary::from_name);
    let others = Canary::all().filter(|canary| Some(*canary) != named);
    let mut canaries = named.into_iter().chain(others);
    let shows = |canary: &Canary| cause.is_among(&simulated(&plan, *canary));
    canaries.find(shows).map(|canary| canary.name().to_owned())
}

/// The id under which a scenario is played on planted bugs.
const PLANTED: &str = "found";

/// What a planted bug is found to do; nothing where its control plan does not pass.
fn simulated(plan: &Plan, canary: Canary) -> Vec<Finding> {
    let judgement = judged(plan, |plan| Agent::of_plan(plan, Delivery::Streamed, Some(canary)));
    let failed = judgement.ok().filter(|judgement| judgement.verdict == Verdict::Fail);
    failed.map(|judgement| judgement.findings).unwrap_or_default()
}

/// Makes a scenario as small as it gets while it shows the cause on this system. `on_step` is told of what is reached,
/// so that whoever interrupts this has something in hand.
pub async fn shrink(
    started: &Started,
    scenario: &Scenario,
    setting: Setting<'_>,
    cause: &Signature,
    effort: Effort,
    options: Options<'_>,
    on_step: &(dyn Fn(&Shrunk) + Sync),
) -> Shrunk {
    let mut shrinker = Shrinker::new(scenario, setting, effort.budget);
    loop {
        let candidates = shrinker.candidates(effort.at_once.max(1));
        let told = ask(started, setting, &candidates, effort.rate.tries(), options).await;
        let told: Vec<bool> = told.iter().map(|cases| cases.iter().any(|case| shows(case, cause))).collect();
        shrinker.report(&told);
        let shrunk = Shrunk {
            scenario: shrinker.smallest().clone(),
            n_runs: shrinker.n_runs(),
            is_minimal: shrinker.is_minimal(),
        };
        if candidates.is_empty() {
            return shrunk;
        }
        on_step(&shrunk);
    }
}
