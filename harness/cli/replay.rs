//! `brickbat replay`.

use std::collections::BTreeMap;

use clap::Args;

use super::interrupt::until_interrupted;
use super::own::Own;
use super::run::{dialect, paint, profiles};
use super::shrink::{ID, one_system, options, start};
use super::{bad_input, block_on, own_program, print};
use brickbat_engine::checks::CHECKS;
use brickbat_engine::triage::Signature;
use brickbat_report::report::Case;
use brickbat_report::report::text::Tone;
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::parse::did_you_mean;
use brickbat_scenario::scenario::{Provenance, Scenario};
use brickbat_scenario::verdict::Verdict;
use brickbat_search::shrink::Setting;

/// Judges the one cause that a scenario was found to show: FIXED, STILL FAILS, FLAKY or ERROR.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Replay {
    /// A scenario file with the key `found`, as `brickbat shrink` and `run --explore` write it.
    #[arg(value_name = "FILE")]
    file: String,
    /// The system; the one on which it was found by default. With --manifest, a name in it.
    #[arg(long = "system", value_name = "NAME")]
    systems: Vec<String>,
    #[command(flatten)]
    own: Own,
    /// The dialect; the one on which it was found by default.
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    dialect: Option<Dialect>,
    /// Runs; 3 by default, or as many as the file says that it took to see it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    repeat: Option<u16>,
}

const EXAMPLES: &str = "Examples:
  brickbat replay found.yaml
  brickbat replay found.yaml --system ai-sdk@6/ui-messages-clean
  brickbat replay found.yaml --command 'node adapter.mjs' --repeat 20

Other findings are listed and do not change the answer.
Exit codes: 0 FIXED, 1 STILL FAILS or FLAKY, 2 bad input, 3 ERROR: it could not be judged.";

/// Runs of a cause that showed each time.
const RUNS: u32 = 3;

/// Runs at once: one that comes and goes may depend on what runs beside it.
const AT_ONCE: usize = 1;

impl Replay {
    pub(super) fn execute(&self) -> u8 {
        let scenario = match one_found(&self.file) {
            Ok(scenario) => scenario,
            Err(error) => return bad_input(error),
        };
        self.replay(&scenario).unwrap_or_else(|code| code)
    }

    fn replay(&self, (scenario, found): &(Scenario, Provenance)) -> Result<u8, u8> {
        let system = one_system(&self.own, &self.systems, scenario).map_err(bad_input)?;
        let supervisor = own_program()?;
        let profiles = profiles(&[]);
        let options = options(&profiles, &supervisor, AT_ONCE);
        let setting = Setting { id: ID, dialect: self.dialect.unwrap_or(found.dialect), seed: found.seed };
        let times = match (self.repeat, found.seen) {
            (Some(times), _) => u32::from(times),
            (None, Some(seen)) => seen.of.max(RUNS),
            (None, None) => RUNS,
        };
        let work = async {
            let started = start(&system, options).await?;
            let runs =
                super::shows::ask(&started, setting, std::slice::from_ref(scenario), times, options).await;
            Ok::<_, u8>((started.name().to_owned(), runs.into_iter().flatten().collect::<Vec<Case>>()))
        };
        let Some(done) = block_on(until_interrupted(work))? else { return Ok(UNJUDGED) };
        let (name, runs) = done?;
        if runs.is_empty() {
            return Err(bad_input(format!(
                "error: {}: the scenario makes no plan\nhint: `brickbat run {}` says why",
                self.file, self.file
            )));
        }
        let answer = Answer::of(&runs, &Signature::of_found(found));
        let what = if found.says.is_empty() { String::new() } else { format!(" ({})", found.says) };
        print(&format!(
            "{}  {}\n  {} {}{what} on {name} in {}\n",
            paint(answer.tone(), answer.word()),
            answer.words(),
            found.harm.name(),
            found.check,
            setting.dialect,
        ));
        print(&others(&runs, found));
        Ok(answer.code())
    }
}

/// Exit code when nothing could be judged.
const UNJUDGED: u8 = 3;

/// What the runs say of the cause.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    /// No run shows it.
    Fixed { of: usize },
    /// Every run shows it.
    StillFails { of: usize },
    /// Some runs show it.
    Flaky { seen: usize, of: usize },
    /// It could not be judged, and no run shows it.
    Error { reason: String },
}

impl Answer {
    /// What could not be judged says nothing, unless nothing else is said.
    fn of(runs: &[Case], cause: &Signature) -> Answer {
        let is_judged = |case: &&Case| matches!(case.judged, Verdict::Pass | Verdict::Fail);
        let of = runs.iter().filter(is_judged).count();
        let seen = runs.iter().filter(|case| super::shows::shows(case, cause)).count();
        match runs.iter().find(|case| !is_judged(case)) {
            Some(case) if seen == 0 => {
                let reason = case.reason.as_deref().unwrap_or("no reason is known");
                Answer::Error { reason: format!("{}: {reason}", case.verdict) }
            }
            _ if seen == 0 => Answer::Fixed { of },
            _ if seen == of => Answer::StillFails { of },
            _ => Answer::Flaky { seen, of },
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Answer::Fixed { .. } => "FIXED",
            Answer::StillFails { .. } => "STILL FAILS",
            Answer::Flaky { .. } => "FLAKY",
            Answer::Error { .. } => "ERROR",
        }
    }

    fn words(&self) -> String {
        match self {
            Answer::Fixed { of } => format!("in none of {of} runs"),
            Answer::StillFails { of } => format!("in {of} of {of} runs"),
            Answer::Flaky { seen, of } => format!("in {seen} of {of} runs"),
            Answer::Error { reason } => reason.clone(),
        }
    }

    fn tone(&self) -> Tone {
        match self {
            Answer::Fixed { .. } => Tone::Good,
            Answer::StillFails { .. } | Answer::Flaky { .. } => Tone::Bad,
            Answer::Error { .. } => Tone::Warn,
        }
    }

    fn code(&self) -> u8 {
        match self {
            Answer::Fixed { .. } => 0,
            Answer::StillFails { .. } | Answer::Flaky { .. } => 1,
            Answer::Error { .. } => UNJUDGED,
        }
    }
}

/// What else the runs show.
fn others(runs: &[Case], found: &Provenance) -> String {
    let cause = Signature::of_found(found);
    let mut seen: BTreeMap<Signature, (usize, String)> = BTreeMap::new();
    for case in runs.iter().filter(|case| case.judged == Verdict::Fail) {
        let of_case: BTreeMap<Signature, &String> =
            case.findings.iter().map(|finding| (Signature::of(finding), &finding.message)).collect();
        for (signature, message) in of_case.into_iter().filter(|(signature, _)| *signature != cause) {
            seen.entry(signature).or_insert_with(|| (0, message.clone())).0 += 1;
        }
    }
    let line = |(signature, (n, message)): (&Signature, &(usize, String))| {
        format!("  {} {} in {n} of {} runs: {message}\n", signature.harm.name(), signature.check, runs.len())
    };
    let lines: String = seen.iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("other findings, which do not change the answer:\n{lines}") }
}

/// The scenario of a file that says what it was found to show.
pub(super) fn one_found(file: &str) -> Result<(Scenario, Provenance), String> {
    let (_, scenario) = super::library::one_scenario(file).map_err(|error| error.to_string())?;
    let Some(found) = scenario.found.clone() else {
        return Err(format!(
            "error: {file} does not say what it was found to show\nhint: `brickbat shrink {file} --system NAME --out FILE` writes a file with the key `found`"
        ));
    };
    let known: Vec<&str> = CHECKS.iter().map(|check| check.id).collect();
    if !known.contains(&found.check.as_str()) {
        let hint = did_you_mean(&found.check, &known).map(|hint| format!("\nhint: {hint}"));
        return Err(format!(
            "error: {file}: there is no check `{}`{}",
            found.check,
            hint.unwrap_or_default()
        ));
    }
    Ok((scenario, found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use brickbat_scenario::plan::PlanId;
    use brickbat_scenario::verdict::{Finding, Judgement, Severity};

    fn case(verdict: Verdict, checks: &[&'static str]) -> Case {
        let finding = |check: &&'static str| Finding {
            check,
            harm: Severity::ResultsLost,
            permanence: None,
            message: "gone".to_owned(),
            place: String::new(),
            rule: None,
            expected: String::new(),
            got: String::new(),
        };
        let findings = checks.iter().map(finding).collect();
        let judgement =
            Judgement { verdict, findings, reason: Some("no receipt".to_owned()), asked: Vec::new() };
        let id = PlanId {
            scenario: ID.to_owned(),
            variant: String::new(),
            dialect: Dialect::OpenaiChat,
            control: false,
        };
        Case::new("reference", &id, judgement, Vec::new(), String::new())
    }

    fn answer(runs: &[Case]) -> (&'static str, u8) {
        let cause =
            Signature { harm: Severity::ResultsLost, check: "results-kept".to_owned(), says: String::new() };
        let answer = Answer::of(runs, &cause);
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
