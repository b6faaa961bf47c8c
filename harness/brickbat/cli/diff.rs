//! `brickbat diff`: runs the same plans against two systems, and compares the results.

use std::path::{Path, PathBuf};

use clap::Args;

use super::error::{CliError, Outcome, UNJUDGED};
use super::failure;
use super::interrupt::until_interrupted;
use super::launch::{Launch, block_on, run_on};
use super::merge::read_report;
use super::options::{ConfirmOptions, JobOptions, PlanOptions, ProviderOptions, SystemOptions};
use super::output::{paint, print};
use super::progress::Progress;
use brickbat_drive::runner::{Job, Options, System};
use brickbat_report::diff::{Comparison, Divergence, Gap};
use brickbat_report::report::Case;
use brickbat_report::report::text::{Tone, counted};

/// Run the same plans on two systems, versions or modes, and show where they differ: one plan for each distinct failure.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Diff {
    /// A system, such as `ai-sdk@5/ui-messages`; or the JSON report of a run on one system, which is not run again.
    #[arg(value_name = "SYSTEM")]
    first: String,
    /// The system to compare it with, or its report.
    #[arg(value_name = "SYSTEM")]
    second: String,
    #[command(flatten)]
    plans: PlanOptions,
    /// A manifest of your own that names the systems.
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    #[command(flatten)]
    provider: ProviderOptions,
    #[command(flatten)]
    concurrency: JobOptions,
    #[command(flatten)]
    confirm: ConfirmOptions,
    /// Print the comparison as JSON.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "Examples:
  brickbat diff ai-sdk@5/ui-messages ai-sdk@7/ui-messages
  brickbat diff ai-sdk@7/ui-messages ai-sdk@7/ui-messages-clean abort/ --dialect openai-chat
  brickbat diff before.json after.json
  brickbat diff before.json ai-sdk@7/ui-messages --json

Exit codes: 0 no difference, 1 the systems differ, 2 bad input, 3 a plan could not be judged.";

/// One of the two sides: a system to run on, or the cases of its report.
enum DiffSide {
    System(System),
    Ran(Vec<Case>),
}

/// Exit code if the systems differ.
const DIFFERENT: u8 = 1;

impl Diff {
    pub(super) fn execute(&self) -> Outcome {
        // Unreadable input must be reported before anything runs.
        let sides = [self.side(&self.first)?, self.side(&self.second)?];
        let is_to_run = sides.iter().any(|side| matches!(side, DiffSide::System(_)));
        let jobs = if is_to_run { self.plans.jobs(self.provider.dialects())? } else { Vec::new() };
        let [first, second] = sides;
        let comparison = Comparison::of(&self.cases(first, &jobs)?, &self.cases(second, &jobs)?);
        print(&if self.json {
            serde_json::to_string_pretty(&comparison).unwrap_or_default() + "\n"
        } else {
            text(&comparison)
        });
        Ok(match (comparison.is_open(), comparison.divergences.is_empty()) {
            (true, _) => UNJUDGED,
            (false, true) => 0,
            (false, false) => DIFFERENT,
        })
    }

    fn side(&self, word: &str) -> Result<DiffSide, CliError> {
        if Path::new(word).extension().is_some_and(|ending| ending == "json") {
            let cases = read_report(Path::new(word))?.cases;
            if cases.windows(2).any(|pair| pair[0].system != pair[1].system) {
                return Err(CliError::input(format!(
                    "{word} covers several systems\nhint: write one report for each: `brickbat run --system NAME --report FILE`"
                )));
            }
            return Ok(DiffSide::Ran(cases));
        }
        let systems = vec![word.to_owned()];
        let manifest = self.manifest.clone();
        let options =
            SystemOptions { systems, manifest, command: None, mode: None, sdk_version: None, patience: 1.0 };
        Ok(DiffSide::System(options.one_system()?))
    }

    /// The cases for all plans on a system.
    fn cases(&self, side: DiffSide, jobs: &[Job]) -> Result<Vec<Case>, CliError> {
        let system = match side {
            DiffSide::Ran(cases) => return Ok(cases),
            DiffSide::System(system) => system,
        };
        let launch = Launch::new(self.provider.profiles())?;
        let options = Options { repeat: self.confirm.repeat(1), ..launch.options(self.concurrency.jobs) };
        let progress = Progress::on(&system);
        let note = |words: &str| progress.note(words);
        let on_case = |case: &Case, n_done: usize, n_all: usize| progress.case(case, n_done, n_all);
        let run = run_on(&system, jobs, options, &note, &on_case);
        block_on(until_interrupted(run))?.unwrap_or_else(|| {
            Err(CliError::start(
                "the run was interrupted, and a comparison needs complete runs on both systems\nhint: choose fewer plans",
            ))
        })
    }
}

fn text(comparison: &Comparison) -> String {
    let mut text: String = comparison.divergences.iter().map(divergence).collect();
    comparison.gaps.iter().for_each(|it| text.push_str(&gap(comparison, it)));
    let Comparison { first, second, n_compared, n_alike, n_beyond_both, divergences, .. } = comparison;
    let tone = if divergences.is_empty() { Tone::Good } else { Tone::Bad };
    text.push_str(&format!(
        "{}  {n_compared} plans on {first} and {second}: {n_alike} the same; {}; {n_beyond_both} more plans that \
         neither supports or reaches\n",
        paint(tone, "diff"),
        counted(divergences.len(), "distinct difference"),
    ));
    text
}

fn divergence(divergence: &Divergence) -> String {
    let both = if divergence.elsewhere_on_both { "; both fail in other plans" } else { "" };
    format!(
        "only on {}: {}  {}\n{}{both}\n  again: {}\n\n",
        divergence.only_on,
        failure::headline(Tone::Bad, &divergence.finding),
        divergence.plan,
        failure::extent(divergence.n_plans, divergence.dialects.iter().map(String::as_str)),
        divergence.reproduce,
    )
}

fn gap(comparison: &Comparison, gap: &Gap) -> String {
    let verdict =
        |verdict: &Option<String>| verdict.clone().unwrap_or_else(|| "not among its plans".to_owned());
    let more = match gap.n_plans {
        1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    let reason = gap.reason.as_ref().map(|reason| format!("\n  {reason}")).unwrap_or_default();
    format!(
        "{}: {}{more}: {} on {}, {} on {}{reason}\n\n",
        paint(Tone::Warn, "not compared"),
        gap.plan,
        verdict(&gap.first),
        comparison.first,
        verdict(&gap.second),
        comparison.second,
    )
}
