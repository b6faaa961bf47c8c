//! `brickbat fuzz`: runs generated scenarios against a system, and reports each distinct failure as one small
//! scenario.

mod accusations;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use clap::Args;

use super::canaries::SUITE_BROKEN;
use super::error::{CliError, Outcome, UNJUDGED};
use super::failure::{self, MAX_UNJUDGED, plan_of};
use super::filters;
use super::interrupt::until_interrupted;
use super::launch::{FOUND, Launch, block_on, start};
use super::options::{self, FailOnOptions, JobOptions, ProviderOptions, SystemOptions};
use super::output::{paint, print};
use super::progress::Progress;
use super::replay;
use super::shrink::{Effort, minimise};
use accusations::Accusations;
use brickbat_drive::runner::{Job, Keep, Options, Started, System, quoted};
use brickbat_engine::triage::{Signature, file_name, words};
use brickbat_report::record::Record;
use brickbat_report::report::Case;
use brickbat_report::report::text::{self, Tone, counted};
use brickbat_rules::dialect::Dialect;
use brickbat_rules::redact::Redactor;
use brickbat_scenario::lower;
use brickbat_scenario::plan::CONTROL;
use brickbat_scenario::scenario::Scenario;
use brickbat_scenario::verdict::{Finding, Verdict};
use brickbat_search::fuzz::novelty::features;
use brickbat_search::fuzz::{Campaign, Guidance};
use brickbat_search::shrink::{Accused, Rate, Setting, Trial};

/// Generate random scenarios, run them on a system, and minimise each distinct failure.
///
/// It draws several scenarios at a time and runs the one with the least-tested combination of features.
#[derive(Args)]
#[command(after_help = EXAMPLES, mut_arg("dialects", |arg| arg.help(DIALECT_HELP)), mut_arg("fail_on", |arg| arg.help(FAIL_ON_HELP)))]
pub(super) struct Fuzz {
    #[command(flatten)]
    system: SystemOptions,
    /// Search for histories that this filter, such as `turnsafe/repair`, handles wrongly, instead of scenarios for a
    /// system; see `brickbat filters`.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["systems", "manifest", "command", "plans", "out", "random"])]
    filter: Option<String>,
    #[command(flatten)]
    provider: ProviderOptions,
    /// How long to search and minimise, such as `90s`, `10m` or `2h`, after the system has started. Failures
    /// that are not minimised by then are reported as found.
    #[arg(long, value_name = "T", default_value = "60s", value_parser = options::duration)]
    time: Duration,
    /// Run at most N plans. With one job, the same seed and number of plans reproduce the same run.
    #[arg(long, value_name = "N")]
    plans: Option<usize>,
    /// The seed for all random choices.
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    concurrency: JobOptions,
    /// The maximum number of runs for minimising one failure; with 0, each failure is reported as found.
    #[arg(long, value_name = "N", default_value_t = 150)]
    budget: usize,
    #[command(flatten)]
    threshold: FailOnOptions,
    /// Run every generated scenario without guidance, as a baseline for the guided search.
    #[arg(long)]
    random: bool,
    /// Write the smallest scenario of each distinct failure to this directory, for `brickbat replay` and `brickbat
    /// promote`.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

const DIALECT_HELP: &str =
    "A dialect that the provider speaks; by default all that the system supports. May be repeated";

const FAIL_ON_HELP: &str = "The mildest severity to search for: a name from a report, `bricked`, or `any`; milder findings are ignored";

const EXAMPLES: &str = "Examples:
  brickbat fuzz --system ai-sdk@6/ui-messages --time 2m --out found
  brickbat fuzz --system ai-sdk@7/ui-messages --dialect openai-chat --fail-on bricked
  brickbat fuzz --system canary/dangling-on-abort --plans 500 --seed 7 --jobs 1
  brickbat fuzz --manifest my-agent/system.yaml --time 1h --out found
  brickbat fuzz --filter turnsafe/repair --time 5m

Exit codes:
  0  nothing was found
  1  failures were found
  2  the input is wrong
  3  a plan could not be judged
  4  the reference agent has a finding, which is a bug in Brickbat";

/// The number of plans per job between two evaluations of the results.
const PLANS_PER_JOB: usize = 4;

/// Runs that measure how often a failure occurs.
const N_CONFIRM: u32 = 3;

/// A finding to minimise.
#[derive(Clone)]
struct Suspect {
    scenario: Scenario,
    dialect: Dialect,
    signature: Signature,
    finding: Finding,
}

/// The counts so far.
#[derive(Default)]
struct Tally {
    system: String,
    counts: BTreeMap<Verdict, usize>,
    n_features: usize,
    n_failures: usize,
    n_shrink_runs: usize,
    unjudged: Vec<Case>,
    accusations: Accusations,
    /// Findings that are not reported yet.
    suspects: VecDeque<Suspect>,
    /// Reported findings.
    reported: BTreeSet<Signature>,
    /// The command-line options that select the system.
    options: String,
}

/// One command run.
struct FuzzRun<'a> {
    fuzz: &'a Fuzz,
    system: &'a System,
    options: Options<'a>,
    progress: Progress,
    tally: RefCell<Tally>,
    /// The running batch. Its results count even if the run ends before the batch does.
    under_way: Mutex<Option<Batch>>,
}

/// Generated scenarios that run together, and their results so far.
struct Batch {
    dialect: Dialect,
    /// Each with its plan's id.
    trials: Vec<(String, Scenario)>,
    cases: Vec<Case>,
}

impl Fuzz {
    pub(super) fn execute(&self) -> Outcome {
        if let Some(filter) = &self.filter {
            return filters::searched(filter, &self.provider.dialects, self.seed, self.time);
        }
        let system = self.system.one_system()?;
        failure::make_folder(self.out.as_deref())?;
        let launch = Launch::new(self.provider.profiles())?;
        let session = FuzzRun {
            fuzz: self,
            system: &system,
            options: launch.options(self.concurrency.jobs),
            progress: Progress::on(&system),
            tally: RefCell::new(Tally { system: system.name(), ..Tally::default() }),
            under_way: Mutex::default(),
        };
        let guidance = if self.random { Guidance::None } else { Guidance::Rarity };
        let mut campaign = Campaign::new(self.seed, guidance);
        let is_whole = block_on(until_interrupted(session.run(&mut campaign)))?.transpose()?.is_some();
        if !is_whole {
            session.report_rest(&mut campaign, "it was interrupted")?;
        }
        Ok(session.sum_up(is_whole))
    }
}

impl FuzzRun<'_> {
    /// Runs until the time or the plans are used up, and reports failures that could not be minimised in time.
    async fn run(&self, campaign: &mut Campaign) -> Result<(), CliError> {
        let started = start(self.system, self.options.supervisor).await?;
        {
            let mut tally = self.tally.borrow_mut();
            started.name().clone_into(&mut tally.system);
            tally.options = started.options();
        }
        match tokio::time::timeout(self.fuzz.time, self.search(&started, campaign)).await {
            Ok(done) => done,
            Err(_) => self.report_rest(campaign, "the time is up"),
        }
    }

    /// Runs the batches one after another.
    async fn search(&self, started: &Started, campaign: &mut Campaign) -> Result<(), CliError> {
        let began = Instant::now();
        let dialects = match self.fuzz.provider.dialects.as_slice() {
            [] => self.system.dialects(),
            given => given.to_vec(),
        };
        let n_batch = self.options.n_jobs * PLANS_PER_JOB;
        let mut n_left = self.fuzz.plans.unwrap_or(usize::MAX);
        for (number, dialect) in dialects.iter().copied().cycle().enumerate() {
            if n_left == 0 {
                break;
            }
            let setting = self.setting(dialect);
            // A plan that the system cannot run is not worth counting.
            let can = |scenario: &Scenario| {
                jobs(&setting, std::iter::once((FOUND, scenario))).iter().all(|job| started.can(&job.plan))
            };
            let plays = |scenario: &Scenario| can(scenario) && self.is_fair(setting, scenario);
            let trials = campaign.cases(n_batch.min(n_left), plays);
            self.report_accusations()?;
            if trials.is_empty() {
                break;
            }
            n_left -= trials.len();
            let suspects = self.batch(started, campaign, number, dialect, &trials).await;
            self.tally.borrow_mut().suspects.extend(suspects);
            while let Some(suspect) = self.next_suspect() {
                self.say(began, &format!("minimising {}", suspect.finding.check));
                self.follow(started, campaign, suspect).await?;
                self.tally.borrow_mut().suspects.pop_front();
            }
            self.say(began, "searching");
            let tally = self.tally.borrow();
            if tally.counts.keys().all(|verdict| matches!(verdict, Verdict::NotRun | Verdict::HarnessError)) {
                break;
            }
        }
        Ok(())
    }

    /// The next suspect. It stays on the list until it has been reported.
    fn next_suspect(&self) -> Option<Suspect> {
        self.tally.borrow().suspects.front().cloned()
    }

    /// The status line: the progress, and the current work.
    fn say(&self, began: Instant, what: &str) {
        let tally = self.tally.borrow();
        let n_plans: usize = tally.counts.values().sum();
        let seconds = began.elapsed().as_secs_f64();
        self.progress.say(&format!(
            "{seconds:.0} s: {n_plans} plans, {:.1} per second; {}, {} behaviours; {what}",
            n_plans as f64 / seconds.max(0.1),
            counted(tally.n_failures, "distinct failure"),
            tally.n_features,
        ));
    }

    /// Reports findings that could not be minimised in time, one per cause.
    fn report_rest(&self, campaign: &mut Campaign, why: &str) -> Result<(), CliError> {
        let seen = self.under_way().take().map(|batch| self.suspects_of(campaign, &batch));
        let mut rest = std::mem::take(&mut self.tally.borrow_mut().suspects);
        rest.extend(seen.into_iter().flatten());
        rest.into_iter().try_for_each(|suspect| self.report_as_found(campaign, suspect, why))
    }

    fn under_way(&self) -> MutexGuard<'_, Option<Batch>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports a suspect without minimising it, if it is a distinct failure.
    fn report_as_found(&self, campaign: &mut Campaign, suspect: Suspect, why: &str) -> Result<(), CliError> {
        let Suspect { mut scenario, dialect, signature, finding } = suspect;
        // Before minimisation a scenario contains many kinds of actions, most of which are unrelated to the
        // failure.
        if self.tally.borrow().reported.contains(&signature) || !campaign.found(&signature, &scenario) {
            return Ok(());
        }
        let system = self.tally.borrow().system.clone();
        let found = format!("Found on {system} in {dialect} by fuzzing, and not minimised");
        scenario.comment = failure::comment(&found, &words(&scenario), &finding);
        scenario.class = vec!["fuzzed".to_owned()];
        scenario.found = Some(signature.found(&system, dialect, self.fuzz.seed));
        let once = Rate::of(&[true]);
        self.report(&signature, &finding, &scenario, once, &format!("  not minimised: {why}\n"))
    }

    /// True if the reference agent passes a scenario. If not, the accusation is kept: it is a bug in Brickbat.
    fn is_fair(&self, setting: Setting<'static>, scenario: &Scenario) -> bool {
        match setting.trial(scenario) {
            Trial::Passed => true,
            Trial::Unplayable | Trial::Unproven => false,
            Trial::Accused(findings) => {
                self.tally.borrow_mut().accusations.add(scenario, setting.dialect, findings);
                false
            }
        }
    }

    /// Reports new accusations against the reference agent.
    fn report_accusations(&self) -> Result<(), CliError> {
        for text in self.tally.borrow_mut().accusations.report(self.fuzz.out.as_deref())? {
            self.progress.hide(|| print(&format!("{text}\n")));
        }
        Ok(())
    }

    fn setting(&self, dialect: Dialect) -> Setting<'static> {
        Setting { id: FOUND, dialect, seed: self.fuzz.seed, accused: Accused::System }
    }

    /// Runs scenarios, and returns the findings that are new.
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
                let checks = record.case.all_findings().map(|finding| finding.check.as_str());
                let features = features(&observed.trace, checks);
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.insert(record.case.plan.clone(), features);
            }
        };
        let names: Vec<String> =
            (0..trials.len()).map(|at| format!("fuzz/{}-{number}-{at}", self.fuzz.seed)).collect();
        let jobs = jobs(&self.setting(dialect), names.iter().map(String::as_str).zip(trials));
        let options = Options { keep: Some(Keep(&keep)), ..self.options };
        let plans = names.iter().map(|name| format!("{name}@{dialect}"));
        let trials = plans.zip(trials.iter().cloned()).collect();
        *self.under_way() = Some(Batch { dialect, trials, cases: Vec::new() });
        let under_way = &self.under_way;
        let on_case = |case: &Case, _: usize, _: usize| {
            if let Some(batch) = under_way.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
                batch.cases.push(case.clone());
            }
        };
        started.run(&jobs, options, &on_case).await;
        let Some(batch) = self.under_way().take() else { return Vec::new() };
        let kept = kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (plan, _) in &batch.trials {
            if let Some(features) = kept.get(plan) {
                campaign.report(features);
            }
        }
        self.tally.borrow_mut().n_features = campaign.n_features();
        self.suspects_of(campaign, &batch)
    }

    /// Counts the cases in a batch, and returns the new findings.
    fn suspects_of(&self, campaign: &Campaign, batch: &Batch) -> Vec<Suspect> {
        let dialect = batch.dialect;
        let mut tally = self.tally.borrow_mut();
        let mut suspects: Vec<Suspect> = Vec::new();
        for (plan, trial) in &batch.trials {
            for case in batch.cases.iter().filter(|case| plan_of(case) == plan.as_str()) {
                tally.count(case);
                let mut scenario = trial.clone();
                if case.plan.ends_with(CONTROL) {
                    scenario.turns.iter_mut().for_each(|turn| turn.at.clear());
                }
                let findings = if case.verdict == Verdict::Fail { case.findings.as_slice() } else { &[] };
                let fail_on = self.fuzz.threshold.fail_on;
                for finding in findings.iter().filter(|finding| finding.severity <= fail_on) {
                    let signature = Signature::of(finding);
                    if campaign.is_new(&signature, &scenario) {
                        let finding = finding.clone();
                        suspects.push(Suspect { scenario: scenario.clone(), dialect, signature, finding });
                    }
                }
            }
        }
        suspects
    }

    /// Minimises a suspect, and reports it if it is a distinct failure.
    async fn follow(
        &self,
        started: &Started,
        campaign: &mut Campaign,
        suspect: Suspect,
    ) -> Result<(), CliError> {
        if self.fuzz.budget == 0 {
            return self.report_as_found(campaign, suspect, "the budget is 0");
        }
        let Suspect { scenario, dialect, signature, finding } = suspect;
        // An earlier suspect of the batch may have been the same.
        if !campaign.is_new(&signature, &scenario) {
            return Ok(());
        }
        let setting = self.setting(dialect);
        let (rate, _) = self.again(started, setting, &scenario, &signature).await;
        let effort = Effort { budget: self.fuzz.budget, at_once: self.options.n_jobs, rate };
        let shrunk = minimise(started, &scenario, setting, &signature, effort, self.options, &|_| ()).await;
        self.tally.borrow_mut().n_shrink_runs += shrunk.n_runs;
        if !campaign.found(&signature, &shrunk.scenario) {
            return Ok(());
        }
        let mut smallest = shrunk.scenario;
        // The report describes the smallest scenario: its finding, and how often it shows.
        let (rate, shown) = self.again(started, setting, &smallest, &signature).await;
        let finding = shown.unwrap_or(finding);
        let found = format!("Found on {} in {dialect} by fuzzing", started.name());
        smallest.comment = failure::comment(&found, &words(&smallest), &finding);
        smallest.class = vec!["fuzzed".to_owned()];
        let mut found = signature.found(started.name(), dialect, self.fuzz.seed);
        found.seen = rate.label();
        smallest.found = Some(found);
        self.report(&signature, &finding, &smallest, rate, "")
    }

    /// How often a scenario triggers its failure again, and the finding in these runs.
    async fn again(
        &self,
        started: &Started,
        setting: Setting<'_>,
        scenario: &Scenario,
        signature: &Signature,
    ) -> (Rate, Option<Finding>) {
        let runs = replay::runs(started, setting, scenario, N_CONFIRM, self.options).await;
        // The run that showed it first counts too.
        let mut shows = vec![true];
        shows.extend(runs.iter().map(|case| replay::shows(case, signature)));
        (Rate::of(&shows), replay::finding(&runs, signature).cloned())
    }

    fn report(
        &self,
        signature: &Signature,
        finding: &Finding,
        smallest: &Scenario,
        rate: Rate,
        note: &str,
    ) -> Result<(), CliError> {
        let mut tally = self.tally.borrow_mut();
        tally.n_failures += 1;
        tally.reported.insert(signature.clone());
        drop(tally);
        let mut text = failure::headline(Tone::Bad, finding);
        text.push_str(&format!("  {}\n{}", words(smallest), failure::actions(smallest)));
        if let Some(seen) = rate.label() {
            text.push_str(&format!("  comes and goes: {} of {} runs\n", seen.runs, seen.of));
        }
        if let Some(folder) = &self.fuzz.out {
            let path = folder.join(file_name(signature, smallest));
            failure::write(&path, smallest)?;
            let file = quoted(&path.to_string_lossy());
            text.push_str(&format!("  again: brickbat replay {file} {}\n", self.tally.borrow().options));
        }
        text.push_str(note);
        self.progress.hide(|| print(&format!("{text}\n")));
        Ok(())
    }

    /// Prints the summary, and gives the exit code.
    fn sum_up(&self, is_whole: bool) -> u8 {
        let tally = self.tally.borrow();
        tally.unjudged.iter().for_each(|case| print(&format!("{}\n", text::line(case))));
        let tone = if tally.n_failures == 0 { Tone::Good } else { Tone::Bad };
        print(&format!(
            "{}  {} generated plans: {}; {} behaviours; {}, minimised in {} runs; seed {}{}\n",
            paint(tone, &tally.system),
            tally.counts.values().sum::<usize>(),
            failure::counts(&tally.counts),
            tally.n_features,
            counted(tally.n_failures, "distinct failure"),
            tally.n_shrink_runs,
            self.fuzz.seed,
            if is_whole { "" } else { "; interrupted" },
        ));
        tally.exit_code()
    }
}

impl Tally {
    fn exit_code(&self) -> u8 {
        match (self.unjudged.is_empty(), self.n_failures) {
            _ if !self.accusations.is_empty() => SUITE_BROKEN,
            (_, 1..) => 1,
            (false, 0) => UNJUDGED,
            (true, 0) => 0,
        }
    }

    /// Counts a case. An unproven action of a generated plan means nothing, so it is only counted.
    fn count(&mut self, case: &Case) {
        *self.counts.entry(case.verdict).or_insert(0) += 1;
        let is_broken = matches!(case.verdict, Verdict::HarnessError | Verdict::NotRun);
        if is_broken && self.unjudged.len() < MAX_UNJUDGED {
            self.unjudged.push(case.clone());
        }
    }
}

/// The scenarios' plans, each under a name.
fn jobs<'s>(setting: &Setting<'_>, named: impl Iterator<Item = (&'s str, &'s Scenario)>) -> Vec<Job> {
    let plan = |(name, scenario): (&str, &Scenario)| {
        let plan = lower::lower(name, "", scenario, setting.dialect, setting.seed).ok()?;
        Some(Job { plan: Arc::new(plan), path: None })
    };
    named.filter_map(plan).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use brickbat_scenario::parse;
    use brickbat_scenario::verdict::Severity;

    #[test]
    fn an_accusation_of_the_reference_agent_takes_precedence_over_findings_on_a_system() {
        let mut tally = Tally { n_failures: 1, ..Tally::default() };
        assert_eq!(tally.exit_code(), 1);
        let finding = Finding::new("results-kept", Severity::ResultsLost, "a result is gone");
        let text = include_str!("../../../scenarios/control/plain-batch.yaml");
        let scenario = parse::parse("plain-batch.yaml", text).unwrap().remove(0).scenario;
        tally.accusations.add(&scenario, Dialect::OpenaiChat, vec![finding]);
        assert_eq!(tally.exit_code(), SUITE_BROKEN);
    }
}
