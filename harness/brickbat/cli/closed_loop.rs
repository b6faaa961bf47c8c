//! `brickbat closed-loop`.

mod table;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use super::error::{CliError, Outcome, UNJUDGED, UnknownName};
use super::interrupt::until_interrupted;
use super::launch::{Launch, block_on, run_on};
use super::mending::{Mending, Treated, Treatment};
use super::options::{self, JobOptions, PlanOptions, ProviderOptions, SystemOptions};
use super::output::{print, tell};
use super::recordings::today;
use brickbat_drive::runner::{Job, System};
use brickbat_report::report::Case;
use brickbat_sessions::{Fault, Spot};

use table::{Played, SessionRow, Table};

/// Brick real products, repair their stored sessions, and check whether they continue.
///
/// Each plan in which a new process loads the session runs twice: with the store as it is, and with the store repaired.
/// Before each run, --plant puts a fault from a public thread into the store. A session counts as brought back if the
/// product cannot continue it without the repair, and every later turn works with the repair.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ClosedLoop {
    #[command(flatten)]
    plans: PlanOptions,
    #[command(flatten)]
    system: SystemOptions,
    #[command(flatten)]
    provider: ProviderOptions,
    /// The model that systems are asked to use, such as `gemini-3-flash-preview`, if the store does not contain it.
    #[arg(long, value_name = "NAME", value_parser = options::model)]
    model: Option<String>,
    /// Plant this fault at each possible location: a name such as `result-missing`, or `all`. May be
    /// repeated.
    #[arg(long, value_name = "FAULT", value_parser = faults)]
    plant: Vec<Faults>,
    /// Write every session as JSON. Existing rows for other systems and faults are kept, even rows that another run
    /// writes at the same time.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Print each change to each store.
    #[arg(long)]
    verbose: bool,
    #[command(flatten)]
    concurrency: JobOptions,
}

const EXAMPLES: &str = "Examples:
  brickbat closed-loop kill/ --system langgraph-python
  brickbat closed-loop kill/between-turns --system ai-sdk@6/ui-messages --plant all --report loop.json

Exit codes:
  0  every bricked session continues after its repair, and no healthy session was changed
  1  a bricked session does not continue, or a healthy session was changed
  3  no stored session could be judged";

/// The maximum number of attempts to have the product store the same in both runs of a plan.
const MAX_TRIES: usize = 3;

/// The faults that one option names.
#[derive(Debug, Clone)]
struct Faults(Vec<Fault>);

fn faults(word: &str) -> Result<Faults, UnknownName> {
    if word == "all" {
        return Ok(Faults(Fault::ALL.to_vec()));
    }
    let names = || Fault::ALL.map(Fault::id).join(", ");
    Fault::from_id(word)
        .map(|fault| Faults(vec![fault]))
        .ok_or_else(|| UnknownName(format!("the faults are all, {}", names())))
}

impl ClosedLoop {
    pub(super) fn execute(&self) -> Outcome {
        let jobs = self.plans.jobs(self.provider.dialects())?;
        let mut jobs: Vec<Job> = jobs.into_iter().filter(|job| job.plan.kills()).collect();
        if let Some(model) = &self.model {
            // A scenario that names its model shows its failure only with that model.
            let open = jobs.iter_mut().filter(|job| job.plan.model.is_none());
            open.for_each(|job| job.plan = Arc::new(job.plan.with_model(model)));
        }
        if jobs.is_empty() {
            return Err(CliError::input(
                "no plan loads a stored session\nhint: choose scenarios with `kill`",
            ));
        }
        let launch = Launch::new(self.provider.profiles())?;
        if let Some(path) = &self.report {
            // An unreadable report is an error before the first run, not after it.
            Table::read(path)?;
        }
        let mut fresh = Table::default();
        for system in self.system.systems()? {
            for plant in self.plants() {
                let run = self.round(&system, plant, &jobs, &launch);
                let rows = block_on(until_interrupted(run))?;
                let rows = rows.ok_or_else(|| CliError::input("interrupted"))??;
                if let Some(path) = &self.report {
                    // Written after each round, so that an interrupted run keeps its results.
                    Table::add_to(path, rows.clone())?;
                }
                fresh.add(rows);
            }
        }
        if !fresh.is_judged() {
            tell("error: no stored session could be judged, so the run proves nothing");
            return Ok(UNJUDGED);
        }
        print(&fresh.text());
        Ok(u8::from(!fresh.is_closed()))
    }

    /// The faults to plant, round by round; one round without a fault if none is named.
    fn plants(&self) -> Vec<Option<(Fault, Spot)>> {
        let faults: Vec<Fault> = self.plant.iter().flat_map(|faults| faults.0.clone()).collect();
        if faults.is_empty() {
            return vec![None];
        }
        let at = |fault: Fault| Spot::ALL.into_iter().map(move |spot| Some((fault, spot)));
        faults.into_iter().flat_map(at).collect()
    }

    /// Drives each plan with the store as it is and with the store repaired. If the product stored different
    /// things in the two runs, they cannot be compared, and the plan is tried again.
    async fn round(
        &self,
        system: &System,
        plant: Option<(Fault, Spot)>,
        jobs: &[Job],
        launch: &Launch,
    ) -> Result<Vec<SessionRow>, CliError> {
        let mut rows = self.pairs(system, plant, jobs, launch).await?;
        for _ in 1..MAX_TRIES {
            let is_unlike = |job: &&Job| rows.iter().any(|row| row.is_of(job) && row.is_unlike());
            let again: Vec<Job> = jobs.iter().filter(is_unlike).cloned().collect();
            if again.is_empty() {
                break;
            }
            rows.retain(|row| !again.iter().any(|job| row.is_of(job)));
            rows.extend(self.pairs(system, plant, &again, launch).await?);
        }
        Ok(rows)
    }

    async fn pairs(
        &self,
        system: &System,
        plant: Option<(Fault, Spot)>,
        jobs: &[Job],
        launch: &Launch,
    ) -> Result<Vec<SessionRow>, CliError> {
        let (left, _) =
            self.play(system, Treatment { plant, repairs: false, fills_tail: false }, jobs, launch).await?;
        // If nothing could be planted, there is nothing to repair.
        let is_planted = |job: &&Job| left.iter().any(|played| played.is_of(job) && played.was_planted());
        let jobs: Vec<Job> = match plant {
            Some(_) => jobs.iter().filter(is_planted).cloned().collect(),
            None => jobs.to_vec(),
        };
        let (mended, mending) =
            self.play(system, Treatment { plant, repairs: true, fills_tail: false }, &jobs, launch).await?;
        tell(format!("{}: {}", system.name(), mending.summary()));
        Ok(SessionRow::pair(plant, left, mended, &today()))
    }

    async fn play(
        &self,
        system: &System,
        treatment: Treatment,
        jobs: &[Job],
        launch: &Launch,
    ) -> Result<(Vec<Played>, Mending), CliError> {
        let mending = Mending::new(treatment, self.verbose);
        let system = system.clone().with_mend(mending.mend());
        let note = |_: &str| ();
        let on_case = |_: &Case, _, _| ();
        let cases = match jobs {
            [] => Vec::new(),
            jobs => run_on(&system, jobs, launch.options(self.concurrency.jobs), &note, &on_case).await?,
        };
        let treated = mending.treated();
        let of = |case: &Case| -> Vec<Treated> {
            treated.iter().filter(|treated| treated.plan == case.plan).cloned().collect()
        };
        let played = cases.iter().map(|case| Played { treated: of(case), case: case.clone() }).collect();
        Ok((played, mending))
    }
}

/// A report's table, for a documentation page.
///
/// # Errors
///
/// If the text is not a report of `brickbat closed-loop`.
pub fn page(report: &str) -> serde_json::Result<String> {
    Ok(serde_json::from_str::<Table>(report)?.text())
}
