//! `brickbat canaries`: the kill table.

use std::collections::BTreeSet;
use std::sync::Arc;

use clap::Args;
use futures::StreamExt;

use super::error::{CliError, Outcome};
use super::launch::{Launch, block_on};
use super::library::{self, Selection};
use super::options::canary;
use super::output::{paint, print};
use brickbat_drive::runner::{self, Job, System};
use brickbat_engine::agent::Delivery;
use brickbat_engine::flaws::Canary;
use brickbat_report::report::Case;
use brickbat_report::report::text::{self, Tone};
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::verdict::Verdict;

/// Prove that the checks work: run the planted bugs and print which plans catch them.
///
/// Each canary runs in process, over HTTP and over ACP. Its check must catch it in all three modes, in every dialect in
/// which the bug can occur. The reference agent must have no finding. Exit code 4 means that one of these conditions is
/// not met.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Canaries {
    /// Run only this canary.
    #[arg(long, value_name = "NAME", value_parser = canary)]
    only: Option<Canary>,
}

const EXAMPLES: &str = "Examples:
  brickbat canaries                              all of them, which takes several minutes
  brickbat canaries --only dangling-on-abort     one of them

Each column shows how many plans in a dialect catch the canary, or that the canary cannot occur there.
A plan is impossible if it needs a point that does not exist in its dialect.";

/// The number of plans per dialect that run again over HTTP and over ACP, of those that caught a canary in
/// process.
const MAX_LIVE_PLANS: usize = 4;
/// The number of canaries that run at once. A row spends most of its time waiting.
const N_ROWS: usize = 4;
/// The number of plans that run at once.
const N_JOBS: u16 = 16;
/// The suite itself is broken.
pub(super) const SUITE_BROKEN: u8 = 4;

impl Canaries {
    pub(super) fn execute(&self) -> Outcome {
        let selection = Selection { sources: &[], dialects: &Dialect::ALL, filter: None, seed: 0 };
        let jobs = library::load(&selection)?;
        block_on(self.table(jobs.into(), Arc::new(Launch::newest()?)))?
    }

    async fn table(&self, jobs: Arc<[Job]>, launch: Arc<Launch>) -> Outcome {
        let served = System::served(None)?;
        let mut complaints: Vec<String> = Vec::new();
        for system in [System::Simulated(None), System::Live(None, Delivery::Streamed), served] {
            let cases = run(&system, &jobs, &launch).await;
            let (impossible, possible): (Vec<&Case>, Vec<&Case>) =
                cases.iter().partition(|case| is_impossible(case, &jobs));
            let accused: Vec<&Case> =
                possible.into_iter().filter(|case| case.verdict != Verdict::Pass).collect();
            accused.iter().for_each(|case| print(&format!("{}\n", text::line(case))));
            let words =
                format!("{} plans, {} accused, {} impossible", cases.len(), accused.len(), impossible.len());
            print(&format!("{:<24} {words}\n", system.name()));
            complaints
                .extend(accused.iter().map(|case| format!("{} is accused in {}", system.name(), case.plan)));
        }
        let columns: String = Dialect::ALL.iter().map(|dialect| format!(" {:>30}", dialect.name())).collect();
        print(&format!("\n{:<24} {:<20}{columns}  also caught by\n", "canary (plans caught)", "checker"));
        let wanted = Canary::all().filter(|canary| self.only.is_none_or(|only| only == *canary));
        // One thread each, to use all cores: the simulation computes and does not wait.
        let rows = wanted.map(|canary| {
            let (jobs, launch) = (Arc::clone(&jobs), Arc::clone(&launch));
            let runtime = tokio::runtime::Handle::current();
            tokio::task::spawn_blocking(move || {
                let served = System::served(Some(canary))?;
                Ok::<_, CliError>(runtime.block_on(row(canary, &served, &jobs, &launch)))
            })
        });
        let mut rows = futures::stream::iter(rows).buffered(N_ROWS);
        while let Some(row) = rows.next().await {
            let (line, missed) = row.map_err(CliError::input).flatten()?;
            print(&line);
            complaints.extend(missed);
        }
        // Printed last, where it is seen: the table is long and wide.
        complaints.iter().for_each(|complaint| print(&format!("error: {complaint}\n")));
        Ok(if complaints.is_empty() { 0 } else { SUITE_BROKEN })
    }
}

/// A canary's row, and the runs in which it was not caught.
async fn row(canary: Canary, served: &System, jobs: &[Job], launch: &Launch) -> (String, Vec<String>) {
    let simulated = run(&System::Simulated(Some(canary)), jobs, launch).await;
    let killers: BTreeSet<&str> =
        simulated.iter().filter(|case| is_caught(case, canary)).map(|case| case.plan.as_str()).collect();
    let of_killers = |job: &&Job| killers.contains(job.plan.id.to_string().as_str());
    let shown_to = |dialect| {
        // Only the simulation holds saves.
        let can_be_live = |job: &&Job| !job.plan.holds_saves();
        let of_dialect = jobs.iter().filter(move |job| job.plan.dialect == dialect).filter(can_be_live);
        of_dialect.filter(of_killers).take(MAX_LIVE_PLANS)
    };
    // One adapter process for all plans of a canary.
    let live_jobs: Vec<Job> = Dialect::ALL.into_iter().flat_map(shown_to).cloned().collect();
    let in_process = System::Live(Some(canary), Delivery::Streamed);
    let (live, over_acp) =
        tokio::join!(run(&in_process, &live_jobs, launch), run(served, &live_jobs, launch));
    let mut cells = Vec::new();
    let mut missed = Vec::new();
    for dialect in Dialect::ALL {
        if canary.senseless_in(dialect).is_some() {
            cells.push("cannot show".to_owned());
            continue;
        }
        let n_caught = |cases: &[Case]| {
            cases.iter().filter(|case| is_of(case, dialect) && is_caught(case, canary)).count()
        };
        let n_shown = live_jobs.iter().filter(|job| job.plan.dialect == dialect).count();
        let (n_simulated, n_live, n_acp) = (n_caught(&simulated), n_caught(&live), n_caught(&over_acp));
        let ways = [(n_simulated, "in the simulation"), (n_live, "over HTTP"), (n_acp, "over ACP")];
        for (_, way) in ways.iter().filter(|(n_caught, _)| *n_caught == 0) {
            missed.push(format!("{} survives {way} on {}", canary.name(), dialect.name()));
        }
        cells.push(format!("{n_simulated} sim, {n_live}/{n_shown} http, {n_acp}/{n_shown} acp"));
    }
    let mut others = BTreeSet::new();
    for finding in simulated.iter().flat_map(Case::all_findings) {
        if finding.check != canary.caught_by() {
            others.insert(finding.check);
        }
    }
    let tone = if missed.is_empty() { Tone::Good } else { Tone::Bad };
    let name = paint(tone, &format!("{:<24}", canary.name()));
    let others: Vec<&str> = others.into_iter().collect();
    let cells: String = cells.iter().map(|cell| format!(" {cell:>30}")).collect();
    (format!("{name} {:<20}{cells}  {}\n", canary.caught_by(), others.join(" ")), missed)
}

fn is_of(case: &Case, dialect: Dialect) -> bool {
    case.plan.ends_with(dialect.name())
}

fn is_caught(case: &Case, canary: Canary) -> bool {
    case.verdict == Verdict::Fail && case.all_findings().any(|finding| finding.check == canary.caught_by())
}

/// True if the dialect declares that it cannot express the plan, or if the plan holds store writes, which
/// only the simulation can do.
fn is_impossible(case: &Case, jobs: &[Job]) -> bool {
    let of_case = |job: &&Job| job.plan.id.to_string() == case.plan;
    let is_so =
        jobs.iter().find(of_case).is_some_and(|job| job.plan.impossible.is_some() || job.plan.holds_saves());
    is_so && case.verdict == Verdict::Unsupported
}

async fn run(system: &System, jobs: &[Job], launch: &Launch) -> Vec<Case> {
    runner::run(system, jobs, launch.options(N_JOBS), &|_| {}, &|_, _, _| {}).await
}
