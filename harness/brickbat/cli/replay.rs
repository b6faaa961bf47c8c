//! `brickbat replay`, and the measurement of how often a scenario triggers a failure on a running system.

use brickbat_scenario::plan::CONTROL;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use super::error::{CliError, Outcome, UNJUDGED};
use super::failure::plan_of;
use super::interrupt::until_interrupted;
use super::launch::{FOUND, Launch, block_on, start};
use super::library::one_scenario;
use super::options::{SystemOptions, dialect};
use super::output::{paint, print};
use super::runs::{self, KeptCase};
use super::work::Work;
use brickbat_drive::runner::{Job, Options, Repeat, Started};
use brickbat_engine::checks::CHECKS;
use brickbat_engine::triage::Signature;
use brickbat_report::report::Case;
use brickbat_report::report::text::Tone;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::lower;
use brickbat_scenario::parse::did_you_mean;
use brickbat_scenario::scenario::{Provenance, Scenario};
use brickbat_scenario::verdict::{Finding, Verdict};
use brickbat_search::shrink::{Accused, Setting};

/// Run a failing case again and judge only that failure: FIXED, STILL FAILS, FLAKY or ERROR.
#[derive(Args)]
#[command(after_help = EXAMPLES, mut_arg("systems", |arg| arg.help(SYSTEM_HELP)))]
pub(super) struct Replay {
    /// The short id of a case, as `brickbat run` prints it, or a scenario file with the key `found`, written by
    /// `brickbat shrink`, `fuzz --out` or `run --explore`.
    #[arg(value_name = "ID|FILE")]
    file: String,
    #[command(flatten)]
    system: SystemOptions,
    /// The dialect; by default the one in which the failure was found.
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    dialect: Option<Dialect>,
    /// How many times to run it; by default 3, or the number of runs that it took to find the failure, according to the
    /// file.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    repeat: Option<u16>,
    /// With an id: the --out directory of the run that contains the case; by default the most recent run that contains
    /// it.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// The help of `--system` for commands that take a scenario with the key `found`.
pub(super) const SYSTEM_HELP: &str = "The system, such as `ai-sdk@6/ui-messages`; by default the one that the file names. With --manifest, a name from that manifest";

const EXAMPLES: &str = "Examples:
  brickbat replay 3f2a91
  brickbat replay found.yaml
  brickbat replay found.yaml --system ai-sdk@6/ui-messages-clean
  brickbat replay found.yaml --command 'node adapter.mjs' --repeat 20

Other findings are listed but do not affect the result.
Exit codes: 0 FIXED, 1 STILL FAILS or FLAKY, 2 bad input, 3 ERROR: it could not be judged.";

/// The number of runs for a failure that occurred every time.
const RUNS: u32 = 3;

/// The number of runs at once: a flaky failure may depend on what runs at the same time.
const AT_ONCE: u16 = 1;

impl Replay {
    pub(super) fn execute(&self) -> Outcome {
        if runs::is_short_id(&self.file) {
            return self.replay_case(&runs::find(&self.file, self.out.as_deref())?);
        }
        let (scenario, found) = one_found(&self.file)?;
        let system = self.system.system_of(&scenario)?;
        let launch = Launch::newest()?;
        let options = launch.options(AT_ONCE);
        let setting = Setting {
            id: FOUND,
            dialect: self.dialect.unwrap_or(found.dialect),
            seed: found.seed,
            accused: Accused::System,
        };
        let times = match (self.repeat, found.seen) {
            (Some(times), _) => u32::from(times),
            (None, Some(seen)) => seen.of.max(RUNS),
            (None, None) => RUNS,
        };
        let work = async {
            let started = start(&system, options.supervisor).await?;
            let runs = runs(&started, setting, &scenario, times, options).await;
            Ok::<_, CliError>((started.name().to_owned(), runs))
        };
        let (name, runs) = block_on(until_interrupted(work))?.ok_or(CliError::Interrupted)??;
        if runs.is_empty() {
            return Err(CliError::input(format!(
                "{}: the scenario produces no plan\nhint: `brickbat run {}` prints why",
                self.file, self.file
            )));
        }
        let answer = ReplayVerdict::of(&runs, &Signature::of_found(&found));
        let what = if found.says.is_empty() { String::new() } else { format!(" ({})", found.says) };
        print(&format!(
            "{}: {}\n  {} {}{what} on {name} in {}\n",
            paint(answer.tone(), answer.word()),
            answer.words(),
            found.severity.name(),
            found.check,
            setting.dialect,
        ));
        print(&others(&runs, &Signature::of_found(&found)));
        Ok(answer.code())
    }
}

impl Replay {
    /// Runs a case from an earlier run again, with the system and the arguments of that run.
    fn replay_case(&self, kept: &KeptCase) -> Outcome {
        if self.dialect.is_some() || self.system.is_given() {
            let words = "a case is replayed on its own system and dialect\nhint: `brickbat run PLAN --system NAME` runs \
                         its plan on another one";
            return Err(CliError::input(words));
        }
        let case = &kept.note;
        let Some(first) = case.findings.get(kept.finding.unwrap_or(0)) else {
            let words = format!("{} was {}; there is no failure to look for", case.plan, case.verdict.name());
            return Err(CliError::input(format!("{words}\nhint: run it again with `{}`", case.reproduce)));
        };
        let cause = first.signature();
        let work = Work::one_again(&kept.run, case)?;
        let launch = Launch::new(work.chosen.profiles.clone())?;
        let options = Options { repeat: Repeat::ONCE, ..launch.options(AT_ONCE) };
        let times = self.repeat.map_or(RUNS, u32::from);
        let runs = async {
            let mut runs = Vec::new();
            for (system, jobs) in &work.batches {
                let started = start(system, options.supervisor).await?;
                for _ in 0..times {
                    let cases = started.run(jobs, options, &|_, _, _| {}).await;
                    // Only the plan's own case counts; a control plan that fails leaves the plan unjudged.
                    runs.extend(cases.into_iter().filter(|ran| ran.plan == case.plan));
                }
            }
            Ok::<_, CliError>(runs)
        };
        let runs = block_on(until_interrupted(runs))?.ok_or(CliError::Interrupted)??;
        let answer = ReplayVerdict::of(&runs, &cause);
        let (word, words) = (paint(answer.tone(), answer.word()), answer.words());
        let severity = first.severity.name();
        print(&format!("{word}: {words}\n  {severity} {}: {} on {}\n", first.check, case.plan, case.system));
        print(&others(&runs, &cause));
        Ok(answer.code())
    }
}

/// Runs a scenario a number of times.
pub(super) async fn runs(
    started: &Started,
    setting: Setting<'_>,
    scenario: &Scenario,
    times: u32,
    options: Options<'_>,
) -> Vec<Case> {
    let runs = runs_of(started, setting, std::slice::from_ref(scenario), times, options).await;
    runs.into_iter().flatten().collect()
}

/// Runs each scenario a number of times, and returns the case from each run, or the case of the control plan
/// if that does not pass. A scenario that cannot be lowered has no case.
pub(super) async fn runs_of(
    started: &Started,
    setting: Setting<'_>,
    scenarios: &[Scenario],
    times: u32,
    options: Options<'_>,
) -> Vec<Vec<Case>> {
    let mut jobs = Vec::new();
    let mut known: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for (at, scenario) in scenarios.iter().enumerate() {
        for run in 0..times {
            // The runs have different plan ids, but the same ids from the seed.
            let variant = format!("{at}.{run}");
            let plan = lower::lower(setting.id, &variant, scenario, setting.dialect, setting.seed);
            let Ok(plan) = plan else { continue };
            known.insert(plan.id.to_string(), (at, lower::control_key(&lower::control(&plan))));
            jobs.push(Job { plan: Arc::new(plan), path: None });
        }
    }
    let options = Options { repeat: Repeat::ONCE, fail_fast: None, shard: None, ..options };
    let cases = started.run(&jobs, options, &|_, _, _| {}).await;
    let controls = cases.iter().filter(|case| case.plan.ends_with(CONTROL));
    let controls: BTreeMap<&str, &Case> =
        controls.filter_map(|case| Some((known.get(plan_of(case))?.1.as_str(), case))).collect();
    let mut runs = vec![Vec::new(); scenarios.len()];
    for case in &cases {
        let Some((at, key)) = known.get(&case.plan) else { continue };
        let deciding = match case.verdict {
            Verdict::Inconclusive => controls.get(key.as_str()).copied().unwrap_or(case),
            _ => case,
        };
        runs[*at].push(deciding.clone());
    }
    runs
}

/// True if a case has a failure.
pub(super) fn shows(case: &Case, cause: &Signature) -> bool {
    case.verdict == Verdict::Fail && cause.is_among(case.all_findings())
}

/// The first finding of a failure that occurs in only some runs.
pub(super) fn finding<'c>(runs: &'c [Case], cause: &Signature) -> Option<&'c Finding> {
    runs.iter().flat_map(Case::all_findings).find(|finding| cause.is_of(finding))
}

/// The runs' verdict on the failure.
#[derive(Debug, PartialEq, Eq)]
enum ReplayVerdict {
    /// It occurs in no run.
    Fixed { of: usize },
    /// It occurs in every run.
    StillFails { of: usize },
    /// It occurs in some runs.
    Flaky { seen: usize, of: usize },
    /// It could not be judged, and occurs in no run.
    Error { reason: String },
}

impl ReplayVerdict {
    /// An unjudged run counts only if no run has the failure.
    fn of(runs: &[Case], cause: &Signature) -> ReplayVerdict {
        let is_judged = |case: &&Case| matches!(case.verdict, Verdict::Pass | Verdict::Fail);
        let of = runs.iter().filter(is_judged).count();
        let seen = runs.iter().filter(|case| shows(case, cause)).count();
        match runs.iter().find(|case| !is_judged(case)) {
            Some(case) if seen == 0 => {
                let reason = case.reason.as_deref().unwrap_or("no reason given");
                ReplayVerdict::Error { reason: format!("{}: {reason}", case.verdict.name()) }
            }
            _ if seen == 0 => ReplayVerdict::Fixed { of },
            _ if seen == of => ReplayVerdict::StillFails { of },
            _ => ReplayVerdict::Flaky { seen, of },
        }
    }

    fn word(&self) -> &'static str {
        match self {
            ReplayVerdict::Fixed { .. } => "FIXED",
            ReplayVerdict::StillFails { .. } => "STILL FAILS",
            ReplayVerdict::Flaky { .. } => "FLAKY",
            ReplayVerdict::Error { .. } => "ERROR",
        }
    }

    fn words(&self) -> String {
        match self {
            ReplayVerdict::Fixed { of } => format!("0 of {of} runs show it"),
            ReplayVerdict::StillFails { of } => format!("{of} of {of} runs show it"),
            ReplayVerdict::Flaky { seen, of } => format!("{seen} of {of} runs show it"),
            ReplayVerdict::Error { reason } => reason.clone(),
        }
    }

    fn tone(&self) -> Tone {
        match self {
            ReplayVerdict::Fixed { .. } => Tone::Good,
            ReplayVerdict::StillFails { .. } | ReplayVerdict::Flaky { .. } => Tone::Bad,
            ReplayVerdict::Error { .. } => Tone::Warn,
        }
    }

    fn code(&self) -> u8 {
        match self {
            ReplayVerdict::Fixed { .. } => 0,
            ReplayVerdict::StillFails { .. } | ReplayVerdict::Flaky { .. } => 1,
            ReplayVerdict::Error { .. } => UNJUDGED,
        }
    }
}

/// The other findings in the runs, one per line.
fn others(runs: &[Case], cause: &Signature) -> String {
    let mut seen: BTreeMap<Signature, (usize, String)> = BTreeMap::new();
    for case in runs.iter().filter(|case| case.verdict == Verdict::Fail) {
        let others = case.findings.iter().filter(|finding| !cause.is_of(finding));
        let of_case: BTreeMap<Signature, &String> =
            others.map(|finding| (Signature::of(finding), &finding.message)).collect();
        for (signature, message) in of_case {
            seen.entry(signature).or_insert_with(|| (0, message.clone())).0 += 1;
        }
    }
    let line = |(signature, (n, message)): (&Signature, &(usize, String))| {
        format!(
            "  {} {} in {n} of {} runs: {message}\n",
            signature.severity.name(),
            signature.check,
            runs.len()
        )
    };
    let lines: String = seen.iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("other findings, which do not change the answer:\n{lines}") }
}

/// The scenario in a file with the `found` key.
pub(super) fn one_found(file: &str) -> Result<(Scenario, Provenance), CliError> {
    let (_, scenario) = one_scenario(file)?;
    let Some(found) = scenario.found.clone() else {
        return Err(CliError::input(format!(
            "{file} has no key `found`\nhint: `brickbat shrink {file} --system NAME --out FILE` writes a file that has it"
        )));
    };
    let known: Vec<&str> = CHECKS.iter().map(|check| check.id).collect();
    if !known.contains(&found.check.as_str()) {
        let hint = did_you_mean(&found.check, &known).map(|hint| format!("\nhint: {hint}"));
        let (check, hint) = (&found.check, hint.unwrap_or_default());
        return Err(CliError::input(format!("{file}: there is no check `{check}`{hint}")));
    }
    Ok((scenario, found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use brickbat_scenario::plan::PlanId;
    use brickbat_scenario::verdict::{Finding, Judgement, Severity};

    fn case(verdict: Verdict, checks: &[&'static str]) -> Case {
        let finding = |check: &&'static str| Finding::new(check, Severity::ResultsLost, "gone");
        let findings = checks.iter().map(finding).collect();
        let judgement = Judgement {
            reason: Some("no receipt".to_owned()),
            ..Judgement::with_findings(verdict, findings)
        };
        let id = PlanId::new(FOUND, Dialect::OpenaiChat);
        Case::new("reference", &id, judgement, Vec::new(), String::new())
    }

    fn answer(runs: &[Case]) -> (&'static str, u8) {
        let cause = Signature {
            severity: Severity::ResultsLost,
            check: "results-kept".to_owned(),
            says: String::new(),
            trigger: None,
            calls: None,
        };
        let answer = ReplayVerdict::of(runs, &cause);
        (answer.word(), answer.code())
    }

    #[test]
    fn only_the_named_cause_counts() {
        let shows = || case(Verdict::Fail, &["results-kept", "order-kept"]);
        let other = || case(Verdict::Fail, &["order-kept"]);
        let pass = || case(Verdict::Pass, &[]);
        assert_eq!(answer(&[shows(), shows()]), ("STILL FAILS", 1));
        assert_eq!(answer(&[shows(), other()]), ("FLAKY", 1));
        assert_eq!(answer(&[pass(), other()]), ("FIXED", 0));
    }

    #[test]
    fn what_cannot_be_judged_is_never_fixed() {
        let shows = || case(Verdict::Fail, &["results-kept"]);
        for verdict in
            Verdict::ALL.into_iter().filter(|verdict| !matches!(verdict, Verdict::Pass | Verdict::Fail))
        {
            assert_eq!(answer(&[case(Verdict::Pass, &[]), case(verdict, &[])]), ("ERROR", 3));
            assert_eq!(answer(&[shows(), case(verdict, &[])]), ("STILL FAILS", 1));
        }
    }
}
