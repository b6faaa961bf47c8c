//! `brickbat shrink`.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use clap::Args;

use super::error::{CliError, Outcome, UNJUDGED};
use super::failure;
use super::interrupt::until_interrupted;
use super::launch::{FOUND, Launch, block_on, start};
use super::library::one_scenario;
use super::options::{SystemOptions, dialect};
use super::output::{print, tell};
use super::replay::{self, SYSTEM_HELP};
use brickbat_drive::runner::{Options, Started, quoted};
use brickbat_engine::triage::{Signature, words};
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::scenario::Scenario;
use brickbat_scenario::verdict::{Finding, Verdict};
use brickbat_scenario::yaml;
use brickbat_search::shrink::{Accused, Rate, Setting, Shrinker, Trial, size};

/// Minimise a failing scenario: remove everything that is not needed for the same failure.
#[derive(Args)]
#[command(after_help = EXAMPLES, mut_arg("systems", |arg| arg.help(SYSTEM_HELP)))]
pub(super) struct Shrink {
    /// A scenario that fails: a file, or a built-in scenario, with its variant if it has several.
    #[arg(value_name = "SCENARIO")]
    scenario: String,
    #[command(flatten)]
    system: SystemOptions,
    /// The dialect in which it fails; by default the one that the file names, otherwise the first in which it fails.
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    dialect: Option<Dialect>,
    /// The check whose finding must remain; by default the check of the worst finding.
    #[arg(long, value_name = "CHECK")]
    check: Option<String>,
    /// Write the scenario to this file instead of printing it.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The maximum number of smaller scenarios to run.
    #[arg(long, value_name = "N", default_value_t = 200)]
    budget: usize,
    /// How many scenarios run at once.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,
    /// The number of runs that measure how often the failure occurs, before and after minimising.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=100))]
    repeat: u16,
    /// The seed for the wire ids; by default the seed in the file, otherwise 0.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
}

const EXAMPLES: &str = "Examples:
  brickbat shrink my.yaml --system ai-sdk@6/ui-messages --out small.yaml
  brickbat shrink 'abort/mid-batch#k=1' --system canary/dangling-on-abort --dialect openai-chat
  brickbat shrink found/bricked-by-client-stop.yaml --budget 60
  brickbat replay small.yaml

Exit codes:
  0  the scenario is minimal
  2  the input is wrong, or nothing fails
  3  the scenario could not be judged, the budget is used up, or the search was interrupted;
     the smallest scenario so far is still written";

/// The effort spent on minimising a scenario.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    /// The maximum number of candidates to run.
    pub(super) budget: usize,
    /// The number of candidates that run at once. More candidates finish sooner, but need more runs in total.
    pub(super) at_once: usize,
    /// How often the scenario triggers the failure. If it is flaky, each candidate runs several times.
    pub(super) rate: Rate,
}

/// The state of a scenario minimisation.
#[derive(Debug, Clone)]
pub(super) struct Shrunk {
    /// The smallest scenario that still triggers the failure.
    pub(super) scenario: Scenario,
    /// The number of candidates run.
    pub(super) n_runs: usize,
    /// True if no single element can be removed any more.
    pub(super) is_minimal: bool,
}

/// The scenario, its setting, and the failure that it triggers.
struct FailingScenario {
    scenario: Scenario,
    setting: Setting<'static>,
    cause: Signature,
    finding: Finding,
    rate: Rate,
}

impl Shrink {
    pub(super) fn execute(&self) -> Outcome {
        let (_, scenario) = one_scenario(&self.scenario)?;
        if scenario.given.is_some() && self.out.is_none() {
            return Err(CliError::input(format!(
                "{} begins with a given history, which is a separate file\nhint: choose a file with --out; \
                 the history is saved alongside it",
                self.scenario
            )));
        }
        let system = self.system.system_of(&scenario)?;
        let launch = Launch::newest()?;
        let options = launch.options(self.jobs);
        let reached: Mutex<Option<(Scenario, Shrunk)>> = Mutex::default();
        let work = async {
            let started = start(&system, options.supervisor).await?;
            let subject = self.subject(&started, scenario, options).await?;
            let FailingScenario { setting, rate, finding, .. } = &subject;
            let keep = |shrunk: &Shrunk| {
                let whole = (described(started.name(), &subject, shrunk, *rate, finding), shrunk.clone());
                *reached.lock().unwrap_or_else(PoisonError::into_inner) = Some(whole);
            };
            let effort = Effort { budget: self.budget, at_once: usize::from(self.jobs), rate: *rate };
            let (scenario, cause) = (&subject.scenario, &subject.cause);
            let shrunk = minimise(&started, scenario, *setting, cause, effort, options, &keep).await;
            let times = u32::from(self.repeat);
            let runs = replay::runs(&started, *setting, &shrunk.scenario, times, options).await;
            let shows: Vec<bool> = runs.iter().map(|case| replay::shows(case, cause)).collect();
            let finding = replay::finding(&runs, cause).unwrap_or(finding);
            let (before, after) = (size(scenario), size(&shrunk.scenario));
            tell(format!("{before} elements to {after} in {} runs", shrunk.n_runs));
            let scenario = described(started.name(), &subject, &shrunk, Rate::of(&shows), finding);
            Ok::<_, CliError>((scenario, shrunk))
        };
        let (done, is_whole) = match block_on(until_interrupted(work))? {
            Some(done) => (Some(done?), true),
            None => (reached.into_inner().unwrap_or_else(PoisonError::into_inner), false),
        };
        let (scenario, shrunk) = done.ok_or(CliError::Interrupted)?;
        self.write(&scenario)?;
        if !shrunk.is_minimal {
            tell("note: a smaller scenario may exist: the budget is used up, or it was interrupted");
        }
        Ok(if is_whole && shrunk.is_minimal { 0 } else { UNJUDGED })
    }

    /// Finds the failure that the scenario triggers.
    async fn subject(
        &self,
        started: &Started,
        scenario: Scenario,
        options: Options<'_>,
    ) -> Result<FailingScenario, CliError> {
        let found = scenario.found.clone();
        let named = self.dialect.or(found.as_ref().map(|found| found.dialect));
        let seed = self.seed.or(found.as_ref().map(|found| found.seed)).unwrap_or(0);
        let wanted = found.as_ref().filter(|_| self.check.is_none()).map(Signature::of_found);
        let is_wanted = |finding: &&Finding| match (&wanted, &self.check) {
            (Some(wanted), _) => wanted.is_of(finding),
            (None, Some(check)) => finding.check == check,
            (None, None) => true,
        };
        let mut reasons = Vec::new();
        for dialect in named.map_or(Dialect::ALL.to_vec(), |dialect| vec![dialect]) {
            let of_system = Setting { id: FOUND, dialect, seed, accused: Accused::System };
            let setting = match of_system.trial(&scenario) {
                Trial::Passed => of_system,
                // A bug in Brickbat, which is minimised as an accusation of the reference agent.
                Trial::Accused(_) if is_reference(started) => {
                    Setting { accused: Accused::Reference, ..of_system }
                }
                Trial::Accused(_) => {
                    reasons.push(format!(
                        "{dialect}: the reference agent fails it, which `--system {REFERENCE}` minimises"
                    ));
                    continue;
                }
                Trial::Unplayable => {
                    reasons.push(format!("{dialect}: it cannot be run"));
                    continue;
                }
                Trial::Unproven => {
                    reasons
                        .push(format!("{dialect}: its planned actions do not happen on the reference agent"));
                    continue;
                }
            };
            let runs = replay::runs(started, setting, &scenario, u32::from(self.repeat), options).await;
            let failed = runs.iter().filter(|case| case.verdict == Verdict::Fail);
            if let Some(finding) = failed.flat_map(|case| case.all_findings()).find(is_wanted).cloned() {
                let cause = Signature::of(&finding);
                let shows: Vec<bool> = runs.iter().map(|case| replay::shows(case, &cause)).collect();
                return Ok(FailingScenario { scenario, setting, cause, finding, rate: Rate::of(&shows) });
            }
            reasons.extend(runs.first().map(|case| {
                format!("{dialect}: {} {}", case.verdict.name(), case.reason.as_deref().unwrap_or_default())
            }));
        }
        let what = match (&self.check, &found) {
            (Some(check), _) => format!("no finding of {check}"),
            (None, Some(found)) => format!("no {} of {}", found.severity.name(), found.check),
            (None, None) => "no failure".to_owned(),
        };
        Err(CliError::input(format!(
            "{} shows {what} on {}\n  {}\nhint: `brickbat run` shows what it does there",
            self.scenario,
            started.name(),
            reasons.join("\n  ")
        )))
    }

    fn write(&self, scenario: &Scenario) -> Result<(), CliError> {
        let Some(path) = &self.out else {
            print(&yaml::text(scenario));
            return Ok(());
        };
        failure::write(path, scenario)?;
        print(&format!("again: brickbat replay {}\n", quoted(&path.to_string_lossy())));
        Ok(())
    }
}

/// The reference agent in the simulation, where accusations appear first.
const REFERENCE: &str = "reference/simulated";

/// True if the system is the reference agent, in any mode.
fn is_reference(started: &Started) -> bool {
    started.name().split('/').next() == REFERENCE.split('/').next()
}

/// Minimises a scenario as long as it triggers the failure in this system. `on_step` gets each smaller
/// scenario, so that an interrupted command can write it.
pub(super) async fn minimise(
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
        let runs = replay::runs_of(started, setting, &candidates, effort.rate.tries(), options).await;
        let shows = |cases: &Vec<_>| cases.iter().any(|case| replay::shows(case, cause));
        shrinker.report(&runs.iter().map(shows).collect::<Vec<bool>>());
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

/// The smallest scenario, with the failure in its comment and in its key `found`.
fn described(
    system: &str,
    subject: &FailingScenario,
    shrunk: &Shrunk,
    rate: Rate,
    finding: &Finding,
) -> Scenario {
    let Setting { dialect, seed, .. } = subject.setting;
    let mut scenario = shrunk.scenario.clone();
    let mut found = subject.cause.found(system, dialect, seed);
    found.seen = rate.label();
    found.canary = subject.scenario.found.as_ref().and_then(|found| found.canary.clone());
    scenario.comment = failure::comment(&format!("On {system} in {dialect}"), &words(&scenario), finding);
    scenario.found = Some(found);
    scenario
}
