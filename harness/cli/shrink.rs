//! `brickbat shrink`.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use clap::Args;

use super::interrupt::until_interrupted;
use super::own::Own;
use super::run::{dialect, profiles};
use super::secrets::redactor;
use super::shows::{self, Effort, Shrunk};
use super::{bad_input, block_on, own_program, print, tell};
use brickbat_drive::runner::{Options, Repeat, Started, System, quoted};
use brickbat_engine::triage::{Signature, words};
use brickbat_report::report::Case;
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::scenario::Scenario;
use brickbat_scenario::verdict::Verdict;
use brickbat_scenario::yaml;
use brickbat_search::shrink::{Rate, Setting, size};

/// Makes a failing scenario small: down to one of which nothing can be taken out without losing the cause.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Shrink {
    /// A scenario that fails: a file, or a built-in one, with its variant if it has several.
    #[arg(value_name = "SCENARIO")]
    scenario: String,
    /// The system on which it fails; the one that the file names by default. With --manifest, a name in it.
    #[arg(long = "system", value_name = "NAME")]
    systems: Vec<String>,
    #[command(flatten)]
    own: Own,
    /// The dialect on which it fails; the one that the file names by default, else the first on which it does.
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    dialect: Option<Dialect>,
    /// The check whose finding is to stay; that of the worst finding by default.
    #[arg(long, value_name = "CHECK")]
    check: Option<String>,
    /// Write the scenario to this file instead of printing it.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Smaller scenarios that are run at the most.
    #[arg(long, value_name = "N", default_value_t = 200)]
    budget: usize,
    /// Scenarios at once.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,
    /// Runs that say how often the cause shows, before and after.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=100))]
    repeat: u16,
    /// Seed of the wire ids; that of the file by default, else 0.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
}

const EXAMPLES: &str = "Examples:
  brickbat shrink my.yaml --system ai-sdk@6/ui-messages --out small.yaml
  brickbat shrink 'abort/mid-batch#k=1' --system canary/dangling-on-abort --dialect openai-chat
  brickbat shrink found/bricked-by-client-stop.yaml --budget 60
  brickbat replay small.yaml

Exit codes: 0 the scenario is as small as it gets, 2 bad input or nothing fails, 3 could not judge, the budget is used
up, or interrupted; what was reached is written all the same.";

/// The id under which scenarios are shrunk and replayed: wire ids do not depend on the name of a file.
pub(super) const ID: &str = "found";

/// The scenario, how it is played, and what it shows.
struct Subject {
    scenario: Scenario,
    dialect: Dialect,
    seed: u64,
    cause: Signature,
    message: String,
    rate: Rate,
}

impl Shrink {
    pub(super) fn execute(&self) -> u8 {
        let scenario = match super::library::one_scenario(&self.scenario) {
            Ok((_, scenario)) => scenario,
            Err(error) => return bad_input(error),
        };
        let system = match one_system(&self.own, &self.systems, &scenario) {
            Ok(system) => system,
            Err(error) => return bad_input(error),
        };
        self.shrink(&system, scenario).unwrap_or_else(|code| code)
    }

    fn shrink(&self, system: &System, scenario: Scenario) -> Result<u8, u8> {
        let supervisor = own_program()?;
        let profiles = profiles(&[]);
        let options = options(&profiles, &supervisor, usize::from(self.jobs));
        let reached: Mutex<Option<(Scenario, Shrunk)>> = Mutex::default();
        let work = async {
            let started = start(system, options).await?;
            let subject = self.subject(&started, scenario, options).await?;
            let about = |shrunk: &Shrunk, rate: Rate, message: &str| {
                told(started.name(), &subject, shrunk, rate, message)
            };
            let setting = Setting { id: ID, dialect: subject.dialect, seed: subject.seed };
            let keep = |shrunk: &Shrunk| {
                let whole = (about(shrunk, subject.rate, &subject.message), shrunk.clone());
                *reached.lock().unwrap_or_else(PoisonError::into_inner) = Some(whole);
            };
            let effort = Effort { budget: self.budget, at_once: usize::from(self.jobs), rate: subject.rate };
            let shrunk =
                shows::shrink(&started, &subject.scenario, setting, &subject.cause, effort, options, &keep)
                    .await;
            let runs = shows::ask(
                &started,
                setting,
                std::slice::from_ref(&shrunk.scenario),
                u32::from(self.repeat),
                options,
            )
            .await;
            let runs: Vec<Case> = runs.into_iter().flatten().collect();
            let shows: Vec<bool> = runs.iter().map(|case| shows::shows(case, &subject.cause)).collect();
            let mut findings = runs.iter().flat_map(|case| &case.findings);
            let finding = findings.find(|finding| Signature::of(finding) == subject.cause);
            let message = finding.map_or(&subject.message, |finding| &finding.message);
            let before = size(&subject.scenario);
            tell(format!("{} elements to {} in {} runs", before, size(&shrunk.scenario), shrunk.n_runs));
            Ok::<_, u8>((about(&shrunk, Rate::of(&shows), message), shrunk))
        };
        let (done, is_whole) = match block_on(until_interrupted(work))? {
            Some(done) => (Some(done?), true),
            None => (reached.into_inner().unwrap_or_else(PoisonError::into_inner), false),
        };
        let Some((scenario, shrunk)) = done else { return Ok(UNJUDGED) };
        self.write(&scenario)?;
        if !shrunk.is_minimal {
            tell("note: it may get smaller still: the budget is used up, or it was interrupted");
        }
        Ok(if is_whole && shrunk.is_minimal { 0 } else { UNJUDGED })
    }

    /// Finds out what the scenario shows.
    async fn subject(
        &self,
        started: &Started,
        scenario: Scenario,
        options: Options<'_>,
    ) -> Result<Subject, u8> {
        let found = scenario.found.clone();
        let named = self.dialect.or(found.as_ref().map(|found| found.dialect));
        let seed = self.seed.or(found.as_ref().map(|found| found.seed)).unwrap_or(0);
        let dialects = named.map_or(Dialect::ALL.to_vec(), |dialect| vec![dialect]);
        let mut reasons = Vec::new();
        for dialect in dialects {
            let setting = Setting { id: ID, dialect, seed };
            if !setting.is_valid(&scenario) {
                reasons.push(format!("{dialect}: it cannot be played, or the reference agent fails it"));
                continue;
            }
            let times = u32::from(self.repeat);
            let runs = shows::ask(started, setting, std::slice::from_ref(&scenario), times, options).await;
            let runs: Vec<Case> = runs.into_iter().flatten().collect();
            let wanted = found.as_ref().filter(|_| self.check.is_none()).map(Signature::of_found);
            let mut findings =
                runs.iter().filter(|case| case.judged == Verdict::Fail).flat_map(|case| &case.findings);
            let shown = findings.find(|finding| match (&wanted, &self.check) {
                (Some(wanted), _) => Signature::of(finding) == *wanted,
                (None, Some(check)) => finding.check == check,
                (None, None) => true,
            });
            if let Some(shown) = shown {
                let cause = Signature::of(shown);
                let shows: Vec<bool> = runs.iter().map(|case| shows::shows(case, &cause)).collect();
                let (rate, message) = (Rate::of(&shows), shown.message.clone());
                return Ok(Subject { scenario, dialect, seed, cause, message, rate });
            }
            let why =
                runs.first().map(|case| (case.verdict.clone(), case.reason.clone().unwrap_or_default()));
            reasons.extend(why.map(|(verdict, reason)| format!("{dialect}: {verdict} {reason}")));
        }
        let what = match (&self.check, &found) {
            (Some(check), _) => format!("no finding of {check}"),
            (None, Some(found)) => format!("no {} of {}", found.harm.name(), found.check),
            (None, None) => "no failure".to_owned(),
        };
        Err(bad_input(format!(
            "error: {} shows {what} on {}\n  {}\nhint: `brickbat run` shows what it does there",
            self.scenario,
            started.name(),
            reasons.join("\n  ")
        )))
    }

    fn write(&self, scenario: &Scenario) -> Result<(), u8> {
        let text = yaml::text(scenario);
        let text = redactor().text(&text);
        match &self.out {
            Some(path) => {
                std::fs::write(path, text.as_bytes())
                    .map_err(|error| bad_input(format!("error: cannot write {}: {error}", path.display())))?;
                print(&format!("again: brickbat replay {}\n", quoted(&path.to_string_lossy())));
            }
            None => print(&text),
        }
        Ok(())
    }
}

/// Exit code when it is not known whether anything smaller shows the cause.
const UNJUDGED: u8 = 3;

/// The smallest scenario with what it shows, in words and as data.
fn told(system: &str, subject: &Subject, shrunk: &Shrunk, rate: Rate, message: &str) -> Scenario {
    let Subject { cause, dialect, seed, .. } = subject;
    let mut scenario = shrunk.scenario.clone();
    let mut found = cause.found(system, *dialect, *seed);
    found.seen = rate.label();
    found.canary = subject.scenario.found.as_ref().and_then(|found| found.canary.clone());
    let (what, why) = (words(&scenario), message.trim_end_matches('.'));
    scenario.comment =
        format!("On {system} in {dialect}: {what}; then {} fails, because {why}.", cause.check);
    scenario.found = Some(found);
    scenario
}

/// The one system that is meant: that of the options, else that which the scenario names.
pub(super) fn one_system(own: &Own, names: &[String], scenario: &Scenario) -> Result<System, String> {
    let is_named = !names.is_empty() || own.manifest.is_some() || own.command.is_some();
    let names = match (&scenario.found, is_named) {
        (Some(found), false) => vec![found.system.clone()],
        (None, false) => {
            return Err("error: nothing says on which system\nhint: name it with --system".to_owned());
        }
        (_, true) => names.to_vec(),
    };
    let mut systems = own.systems(&names).map_err(|error| error.to_string())?;
    match (systems.pop(), systems.is_empty()) {
        (Some(system), true) => Ok(system),
        _ => Err("error: one system at a time\nhint: give --system once".to_owned()),
    }
}

/// Starts a system, or says why it does not start.
pub(super) async fn start(system: &System, options: Options<'_>) -> Result<Started, u8> {
    let note = |words: &str| tell(words);
    Started::start(system, options.supervisor, &note).await.map_err(|error| {
        tell(format!("error: {} does not start: {error}", system.name()));
        UNJUDGED
    })
}

/// How scenarios are run here: each as often as is asked for, and nothing is kept.
pub(super) fn options<'a>(
    profiles: &'a [&'static Profile],
    supervisor: &'a std::path::Path,
    n_jobs: usize,
) -> Options<'a> {
    Options {
        profiles,
        n_jobs,
        supervisor,
        fail_fast: None,
        repeat: Repeat::ONCE,
        shard: None,
        baselines: &[],
        redactor: redactor(),
        keep: None,
    }
}
