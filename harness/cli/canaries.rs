//! `brickbat canaries`: the kill table.

use std::collections::BTreeSet;
use std::path::Path;

use clap::Args;

use super::run::{paint, profiles};
use super::{bad_input, block_on};
use crate::agent::Delivery;
use crate::agent::canary::Canary;
use crate::dialect::Dialect;
use crate::report::Case;
use crate::report::text::{self, Tone};
use crate::runner::{self, Job, Options, Selection, System};
use crate::verdict::Verdict;

/// Runs every planted bug through the suite, in process and over HTTP, and prints which plans catch it.
///
/// Each canary must be caught by the checker that is meant for it, on both dialects and both ways; the reference
/// agent must be accused of nothing.
#[derive(Args)]
pub(super) struct Canaries {
    /// Only this canary.
    #[arg(long, value_name = "NAME", value_parser = canary)]
    only: Option<Canary>,
}

/// Over HTTP a canary is shown to so many of the plans that caught it in process, on each dialect.
const MAX_LIVE_PLANS: usize = 4;
/// Plans at once.
const N_JOBS: usize = 16;
/// The suite itself is broken.
const SUITE_BROKEN: u8 = 4;

impl Canaries {
    pub(super) fn execute(&self) -> u8 {
        let selection = Selection { sources: &[], dialects: &Dialect::ALL, filter: None, seed: 0 };
        match runner::load(&selection) {
            Ok(jobs) => block_on(self.table(&jobs)).unwrap_or_else(|code| code),
            Err(error) => bad_input(error),
        }
    }

    async fn table(&self, jobs: &[Job]) -> u8 {
        let mut healthy = true;
        for system in [System::Simulated(None), System::Live(None, Delivery::Streamed)] {
            let cases = run(&system, jobs).await;
            let accused: Vec<&Case> = cases.iter().filter(|case| case.judged != Verdict::Pass).collect();
            accused.iter().for_each(|case| anstream::println!("{}", text::line(case)));
            let words = format!("{} plans, {} accused", cases.len(), accused.len());
            anstream::println!("{:<24} {words}", system.name());
            healthy &= accused.is_empty();
        }
        anstream::println!(
            "\n{:<24} {:<20} {:>20} {:>20}  also caught by",
            "canary (plans caught)",
            "checker",
            "anthropic-messages",
            "openai-chat"
        );
        let wanted = Canary::ALL.into_iter().filter(|canary| self.only.is_none_or(|only| only == *canary));
        for canary in wanted {
            healthy &= row(canary, jobs).await;
        }
        if healthy { 0 } else { SUITE_BROKEN }
    }
}

/// Prints the row of a canary, and says whether it was caught everywhere.
async fn row(canary: Canary, jobs: &[Job]) -> bool {
    let simulated = run(&System::Simulated(Some(canary)), jobs).await;
    let mut cells = Vec::new();
    let mut others = BTreeSet::new();
    let mut caught_everywhere = true;
    for dialect in Dialect::ALL {
        let killers: BTreeSet<&str> = simulated
            .iter()
            .filter(|case| is_of(case, dialect) && is_caught(case, canary))
            .map(|case| case.plan.as_str())
            .collect();
        let of_killers = |job: &&Job| killers.contains(job.plan.id.to_string().as_str());
        let live_jobs: Vec<Job> = jobs.iter().filter(of_killers).take(MAX_LIVE_PLANS).cloned().collect();
        let live = run(&System::Live(Some(canary), Delivery::Streamed), &live_jobs).await;
        let n_live = live.iter().filter(|case| is_caught(case, canary)).count();
        caught_everywhere &= !killers.is_empty() && n_live > 0;
        cells.push(format!("{} sim, {n_live}/{} http", killers.len(), live_jobs.len()));
    }
    for finding in simulated.iter().flat_map(|case| &case.findings) {
        if finding.check != canary.caught_by() {
            others.insert(finding.check);
        }
    }
    let tone = if caught_everywhere { Tone::Good } else { Tone::Bad };
    let name = paint(tone, &format!("{:<24}", canary.name()));
    let others: Vec<&str> = others.into_iter().collect();
    anstream::println!(
        "{name} {:<20} {:>20} {:>20}  {}",
        canary.caught_by(),
        cells[0],
        cells[1],
        others.join(" ")
    );
    caught_everywhere
}

fn is_of(case: &Case, dialect: Dialect) -> bool {
    case.plan.ends_with(dialect.name())
}

fn is_caught(case: &Case, canary: Canary) -> bool {
    case.judged == Verdict::Fail && case.findings.iter().any(|finding| finding.check == canary.caught_by())
}

async fn run(system: &System, jobs: &[Job]) -> Vec<Case> {
    let profiles = profiles(&[]);
    // The reference agent and the canaries have no process of their own to guard.
    let options =
        Options { profiles: &profiles, n_jobs: N_JOBS, guardian: Path::new("brickbat"), fail_fast: None };
    runner::run(system, jobs, options, &|_| {}, &|_, _, _| {}).await
}

fn canary(name: &str) -> Result<Canary, String> {
    let known: Vec<&str> = Canary::ALL.into_iter().map(Canary::name).collect();
    Canary::from_name(name).ok_or_else(|| format!("there is {}", known.join(", ")))
}
