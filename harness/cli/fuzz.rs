//! `brickbat fuzz`: scenarios that nobody wrote on a real system, and each cause of what fails as one small scenario.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::Args;

use super::interrupt::until_interrupted;
use super::own::Own;
use super::progress::Progress;
use super::run::{dialect, harm, paint, profile, profiles};
use super::secrets::redactor;
use super::shows::{self, Effort};
use super::shrink::{ID, options, start};
use super::{bad_input, block_on, own_program, print};
use brickbat_drive::runner::{Job, Keep, Options, Started, System, quoted};
use brickbat_engine::triage::{Signature, file_name, words};
use brickbat_report::record::Record;
use brickbat_report::report::Case;
use brickbat_report::report::text::{self, Tone};
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::redact::Redactor;
use brickbat_scenario::lower;
use brickbat_scenario::scenario::Scenario;
use brickbat_scenario::verdict::{Finding, Severity, Verdict};
use brickbat_scenario::yaml;
use brickbat_search::fuzz::novelty::features;
use brickbat_search::fuzz::{Campaign, Guidance};
use brickbat_search::shrink::{Rate, Setting};

/// Runs scenarios that nobody wrote on a system, follows those that bring something new, and makes each new cause small.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Fuzz {
    /// The system, such as `ai-sdk@6/ui-messages`; the reference agent by default. With --manifest, a name in it.
    #[arg(long = "system", value_name = "NAME")]
    systems: Option<String>,
    #[command(flatten)]
    own: Own,
    /// A dialect that the provider speaks; all that the system can speak by default. May be repeated.
    #[arg(long = "dialect", value_name = "DIALECT", value_parser = dialect)]
    dialects: Vec<Dialect>,
    /// How strict the provider is, such as `anthropic-messages@2026-05`; the newest by default. May be repeated.
    #[arg(long = "profile", value_name = "PROFILE", value_parser = profile)]
    profiles: Vec<&'static Profile>,
    /// How long to look, such as `90s`, `10m` or `2h`; what has been found by then is still made small.
    #[arg(long, value_name = "T", default_value = "60s", value_parser = duration)]
    time: Duration,
    /// So many plans at the most. With one job, the same seed and number of plans is the same run.
    #[arg(long, value_name = "N")]
    plans: Option<usize>,
    /// The seed that everything follows from.
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Plans at once; an agent that speaks ACP itself runs one at a time.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,
    /// Runs that making one cause small may take.
    #[arg(long, value_name = "N", default_value_t = 150)]
    budget: usize,
    /// The mildest harm that is looked for: a name from a report, `bricked`, or `any`.
    #[arg(long, value_name = "GRADE", default_value = "any", value_parser = harm)]
    fail_on: Severity,
    /// Try fresh scenarios only, whatever they bring about: the yardstick of the search.
    #[arg(long)]
    random: bool,
    /// Write the smallest scenario of each cause into this folder; `brickbat replay` judges it, `brickbat promote` keeps
    /// it.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "Examples:
  brickbat fuzz --system ai-sdk@6/ui-messages --time 2m --out found
  brickbat fuzz --system ai-sdk@7/ui-messages --dialect openai-chat --fail-on bricked
  brickbat fuzz --system canary/dangling-on-abort --plans 500 --seed 7 --jobs 1
  brickbat fuzz --manifest my-agent/system.yaml --time 1h --out found

Exit codes: 0 nothing found, 1 causes found, 2 bad input, 3 a plan could not be judged.";

/// Plans between two looks at what they have brought about, for each job.
const PLANS_PER_JOB: usize = 4;

/// Runs that tell whether a cause shows every time.
const N_CONFIRM: u32 = 3;

/// Plans that could not be judged and are named; the summary counts all.
const MAX_UNJUDGED: usize = 5;

/// Exit code where a plan could not be judged.
const UNJUDGED: u8 = 3;

/// A finding that is to be made small.
struct Suspect {
    scenario: Scenario,
    dialect: Dialect,
    signature: Signature,
    finding: Finding,
}

/// What a run of the command has come to.
#[derive(Default)]
struct Tally {
    system: String,
    counts: BTreeMap<Verdict, usize>,
    n_features: usize,
    n_causes: usize,
    n_shrink_runs: usize,
    unjudged: Vec<Case>,
}

/// One run of the command: where it runs, and what of it is counted.
struct Session<'a> {
    fuzz: &'a Fuzz,
    system: &'a System,
    options: Options<'a>,
    progress: Progress,
    started: Instant,
    tally: RefCell<Tally>,
}

impl Fuzz {
    pub(super) fn execute(&self) -> u8 {
        let named: Vec<String> = self.systems.iter().cloned().collect();
        let system = match self.own.systems(&named) {
            Ok(systems) => systems.into_iter().next(),
            Err(error) => return bad_input(error),
        };
        let Some(system) = system else { return bad_input("error: no system is named") };
        if let Some(folder) = &self.out
            && let Err(error) = std::fs::create_dir_all(folder)
        {
            return bad_input(format!("error: cannot make {}: {error}", folder.display()));
        }
        let supervisor = match own_program() {
            Ok(supervisor) => supervisor,
            Err(code) => return code,
        };
        let profiles = profiles(&self.profiles);
        let options = options(&profiles, &supervisor, usize::from(self.jobs));
        let session = Session {
            fuzz: self,
            system: &system,
            options,
            progress: Progress::on(&redactor().text(&system.name())),
            started: Instant::now(),
            tally: RefCell::new(Tally { system: system.name(), ..Tally::default() }),
        };
        let is_whole = match block_on(until_interrupted(session.run())) {
            Ok(Some(Ok(()))) => true,
            Ok(None) => false,
            Ok(Some(Err(code))) | Err(code) => return code,
        };
        session.sum_up(is_whole)
    }
}

impl Session<'_> {
    /// Runs one batch after the other until time or plans are used up.
    async fn run(&self) -> Result<(), u8> {
        let guidance = if self.fuzz.random { Guidance::None } else { Guidance::Novelty };
        let mut campaign = Campaign::new(self.fuzz.seed, guidance);
        let started = start(self.system, self.options).await?;
        started.name().clone_into(&mut self.tally.borrow_mut().system);
        let dialects = match self.fuzz.dialects.as_slice() {
            [] => self.system.dialects(),
            given => given.to_vec(),
        };
        let n_batch = usize::from(self.fuzz.jobs) * PLANS_PER_JOB;
        let mut left = self.fuzz.plans.unwrap_or(usize::MAX);
        for (number, dialect) in dialects.iter().copied().cycle().enumerate() {
            if left == 0 || self.started.elapsed() >= self.fuzz.time {
                break;
            }
            let setting = self.setting(dialect);
            // What the system cannot do is not worth a plan.
            let can = |scenario: &Scenario| {
                jobs(&setting, std::iter::once((ID, scenario))).iter().all(|job| started.can(&job.plan))
            };
            let trials =
                campaign.cases(n_batch.min(left), |scenario| can(scenario) && setting.is_valid(scenario));
            if trials.is_empty() {
                break;
            }
            left -= trials.len();
            let suspects = self.batch(&started, &mut campaign, number, dialect, &trials).await;
            for suspect in suspects {
                self.cause(&started, &mut campaign, suspect).await?;
            }
            let tally = self.tally.borrow();
            if tally.counts.keys().all(|verdict| matches!(verdict, Verdict::NotRun | Verdict::HarnessError)) {
                break;
            }
            let n_plans: usize = tally.counts.values().sum();
            self.progress.say(&format!(
                "{n_plans} plans, {:.1} a second; {} behaviours, {} causes",
                n_plans as f64 / self.started.elapsed().as_secs_f64(),
                tally.n_features,
                tally.n_causes
            ));
        }
        Ok(())
    }

    fn setting(&self, dialect: Dialect) -> Setting<'static> {
        Setting { id: ID, dialect, seed: self.fuzz.seed }
    }

    /// Runs trials, and gives what is wrong in them and was not known.
    async fn batch(
        &self,
        started: &Started,
        campaign: &mut Campaign,
        number: usize,
        dialect: Dialect,
        trials: &[Scenario],
    ) -> Vec<Suspect> {
        let kept: Mutex<BTreeMap<String, BTreeSet<u16>>> = Mutex::default();
        let keep = |record: &Record, _: &Redactor| {
            if let Some(observed) = &record.observed {
                let checks = record.case.findings.iter().map(|finding| finding.check.as_str());
                let features = features(&observed.trace, checks);
                kept.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .insert(record.case.plan.clone(), features);
            }
        };
        let names: Vec<String> =
            (0..trials.len()).map(|at| format!("fuzz/{}-{number}-{at}", self.fuzz.seed)).collect();
        let setting = self.setting(dialect);
        let jobs = jobs(&setting, names.iter().map(String::as_str).zip(trials));
        let options = Options { keep: Some(Keep(&keep)), ..self.options };
        let cases = started.run(&jobs, options, &|_, _, _| ()).await;
        let kept = kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut tally = self.tally.borrow_mut();
        let mut suspects: Vec<Suspect> = Vec::new();
        for (name, trial) in names.iter().zip(trials) {
            let plan = format!("{name}@{dialect}");
            if let Some(features) = kept.get(&plan) {
                campaign.report(trial, features);
            }
            for case in of_plan(&cases, &plan) {
                tally.count(case);
                let mut scenario = trial.clone();
                if case.plan.ends_with(CONTROL) {
                    scenario.turns.iter_mut().for_each(|turn| turn.at.clear());
                }
                let findings = if case.judged == Verdict::Fail { case.findings.as_slice() } else { &[] };
                for finding in findings.iter().filter(|finding| finding.harm <= self.fuzz.fail_on) {
                    let signature = Signature::of(finding);
                    if campaign.is_new(&signature, &scenario) {
                        let finding = finding.clone();
                        suspects.push(Suspect { scenario: scenario.clone(), dialect, signature, finding });
                    }
                }
            }
        }
        tally.n_features = campaign.n_features();
        suspects
    }

    /// Makes a suspect small, tells it, and writes it down, if it is a cause of its own.
    async fn cause(&self, started: &Started, campaign: &mut Campaign, suspect: Suspect) -> Result<(), u8> {
        let Suspect { scenario, dialect, signature, finding } = suspect;
        // What was found meanwhile may be the same.
        if !campaign.is_new(&signature, &scenario) {
            return Ok(());
        }
        let setting = self.setting(dialect);
        let (rate, _) = self.asked(started, setting, &scenario, &signature).await;
        let effort = Effort { budget: self.fuzz.budget, at_once: usize::from(self.fuzz.jobs), rate };
        let shrunk =
            shows::shrink(started, &scenario, setting, &signature, effort, self.options, &|_| ()).await;
        self.tally.borrow_mut().n_shrink_runs += shrunk.n_runs;
        if !campaign.found(&signature, &shrunk.scenario) {
            return Ok(());
        }
        let mut smallest = shrunk.scenario;
        // What is told is what the smallest shows, and how often it does.
        let (rate, shown) = self.asked(started, setting, &smallest, &signature).await;
        let finding = shown.unwrap_or(finding);
        let told = words(&smallest);
        smallest.comment = format!(
            "Found on {} in {dialect} by fuzzing: {told}; then {} fails, because {}.",
            started.name(),
            signature.check,
            finding.message.trim_end_matches('.'),
        );
        smallest.class = vec!["fuzzed".to_owned()];
        let mut found = signature.found(started.name(), dialect, self.fuzz.seed);
        found.seen = rate.label();
        smallest.found = Some(found);
        self.tell(started, &signature, &finding, &smallest, rate)
    }

    /// How often a scenario that has shown a cause once shows it again, and what it says then.
    async fn asked(
        &self,
        started: &Started,
        setting: Setting<'_>,
        scenario: &Scenario,
        signature: &Signature,
    ) -> (Rate, Option<Finding>) {
        let again =
            shows::ask(started, setting, std::slice::from_ref(scenario), N_CONFIRM, self.options).await;
        // The run that has shown it counts as well.
        let mut shows = vec![true];
        shows.extend(again.iter().flatten().map(|case| shows::shows(case, signature)));
        let mut findings = again.iter().flatten().flat_map(|case| &case.findings);
        let shown = findings.find(|finding| Signature::of(finding) == *signature);
        (Rate::of(&shows), shown.cloned())
    }

    fn tell(
        &self,
        started: &Started,
        signature: &Signature,
        finding: &Finding,
        smallest: &Scenario,
        rate: Rate,
    ) -> Result<(), u8> {
        self.tally.borrow_mut().n_causes += 1;
        let rule = finding.rule.map(|rule| format!("  rule {rule}")).unwrap_or_default();
        let mut told = format!(
            "{} {}\n  {}{rule}\n  {}\n",
            paint(Tone::Bad, signature.harm.name()),
            signature.check,
            finding.message,
            words(smallest),
        );
        for at in smallest.turns.iter().flat_map(|turn| &turn.at) {
            told.push_str(&format!("    - {}\n", yaml::action(at)));
        }
        if let Some(seen) = rate.label() {
            told.push_str(&format!("  comes and goes: {} of {} runs\n", seen.runs, seen.of));
        }
        if let Some(folder) = &self.fuzz.out {
            let path = folder.join(file_name(signature, smallest));
            let text = yaml::text(smallest);
            std::fs::write(&path, redactor().text(&text).as_bytes())
                .map_err(|error| bad_input(format!("error: cannot write {}: {error}", path.display())))?;
            let file = quoted(&path.to_string_lossy());
            told.push_str(&format!("  again: brickbat replay {file} {}\n", started.options()));
        }
        self.progress.hide(|| print(&format!("{told}\n")));
        Ok(())
    }

    fn sum_up(&self, is_whole: bool) -> u8 {
        let tally = self.tally.borrow();
        tally.unjudged.iter().for_each(|case| print(&format!("{}\n", text::line(case))));
        let counts: Vec<String> =
            tally.counts.iter().map(|(verdict, n)| format!("{n} {}", verdict.name())).collect();
        let tone = if tally.n_causes == 0 { Tone::Good } else { Tone::Bad };
        let n_plans: usize = tally.counts.values().sum();
        print(&format!(
            "{}  {} plans that nobody wrote: {}; {} behaviours; {} causes, made small in {} runs; seed {}{}\n",
            paint(tone, &tally.system),
            n_plans,
            counts.join(", "),
            tally.n_features,
            tally.n_causes,
            tally.n_shrink_runs,
            self.fuzz.seed,
            if is_whole { "" } else { "; interrupted" },
        ));
        match (tally.unjudged.is_empty(), tally.n_causes) {
            (_, 1..) => 1,
            (false, 0) => UNJUDGED,
            (true, 0) => 0,
        }
    }
}

/// What the id of a control plan ends with.
const CONTROL: &str = "+control";

impl Tally {
    /// Counts a case. That an action of a plan that nobody wrote is not proven says nothing, so it is counted only.
    fn count(&mut self, case: &Case) {
        *self.counts.entry(case.judged).or_insert(0) += 1;
        let is_broken = matches!(case.judged, Verdict::HarnessError | Verdict::NotRun);
        if is_broken && self.unjudged.len() < MAX_UNJUDGED {
            self.unjudged.push(case.clone());
        }
    }
}

/// The plans of scenarios, under names of their own.
fn jobs<'s>(setting: &Setting<'_>, named: impl Iterator<Item = (&'s str, &'s Scenario)>) -> Vec<Job> {
    let plan = |(name, scenario): (&str, &Scenario)| {
        let plan = lower::lower(name, "", scenario, setting.dialect, setting.seed).ok()?;
        Some(Job { plan: Arc::new(plan), path: None })
    };
    named.filter_map(plan).collect()
}

/// The cases of a plan: its own, and that of its control plan.
fn of_plan<'c>(cases: &'c [Case], plan: &str) -> impl Iterator<Item = &'c Case> {
    cases.iter().filter(move |case| case.plan.strip_suffix(CONTROL).unwrap_or(&case.plan) == plan)
}

/// A length of time in seconds, minutes or hours.
fn duration(word: &str) -> Result<Duration, String> {
    let (number, unit) = word.split_at(word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len()));
    let seconds = match unit {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return Err("write it as 90s, 10m or 2h".to_owned()),
    };
    let number: u64 = number.parse().map_err(|_| "write it as 90s, 10m or 2h".to_owned())?;
    number.checked_mul(seconds).map(Duration::from_secs).ok_or_else(|| "that is too long".to_owned())
}
