//! `brickbat run --explore`: runs one conversation with every possible fault, and reports the distinct
//! failures.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use clap::{Args, ValueEnum};
use rayon::prelude::*;

use super::error::{CliError, Outcome, UNJUDGED};
use super::failure::{self, MAX_UNJUDGED, plan_of};
use super::interrupt::until_interrupted;
use super::launch::{Launch, block_on, run_on};
use super::library::one_scenario;
use super::options::{ProviderOptions, SystemOptions};
use super::output::{paint, print, tell};
use super::progress::Progress;
use super::recorded;
use super::secrets::redactor;
use brickbat_drive::runner::{Job, Options, Repeat, System, quoted};
use brickbat_report::report::text::{self, Tone, counted};
use brickbat_report::report::{Case, Report};
use brickbat_scenario::scenario::Scenario;
use brickbat_scenario::verdict::{Severity, Verdict};
use brickbat_search::explore::cause::{Cause, Failure, causes};
use brickbat_search::explore::{Base, Candidate, Depth, Ground, candidates};

#[derive(Args)]
pub(super) struct ExploreOptions {
    /// Explore one conversation: inject every fault (stop, kill, dropped connection, error, refusal, pause, early
    /// result) at every point in it, or every pair of faults, and report one plan for each distinct failure: the one
    /// with the fewest and earliest actions. --out writes these plans as scenario files.
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        conflicts_with_all = [
            "scenarios", "filter", "exclude", "list", "files", "write", "fail_fast", "reports", "format", "rerun_failed",
            "shard", "verbose", "quiet", "timeout",
        ]
    )]
    explore: Option<ExploreDepth>,
    /// The scenario whose conversation is explored, without its own faults: a file, or a built-in scenario, with its
    /// variant if it has several.
    #[arg(long, value_name = "SCENARIO", requires = "explore", default_value = "control/plain-batch")]
    base: String,
    /// Explore a recorded conversation: rows recorded by `proxy`, a VCR cassette or a HAR file. The longest
    /// conversation in the file is used, or the one that `FILE#LINE` names.
    #[arg(long, value_name = "FILE", requires = "explore", conflicts_with = "base")]
    from: Option<String>,
    /// Run at most N plans: a stable sample, single actions first.
    #[arg(long, value_name = "N", requires = "explore")]
    limit: Option<usize>,
}

#[derive(Clone, Copy, ValueEnum)]
enum ExploreDepth {
    /// Single actions.
    Singles,
    /// Single actions and pairs of actions.
    Pairs,
}

impl ExploreOptions {
    pub(super) fn is_asked(&self) -> bool {
        self.explore.is_some()
    }
}

/// The number of plans held in memory at once; afterwards only their outcomes are kept.
const CHUNK: usize = 2_000;

/// An exploration as requested by the options of `brickbat run`.
pub(super) struct Exploration<'a> {
    pub(super) options: &'a ExploreOptions,
    pub(super) system: &'a SystemOptions,
    pub(super) provider: &'a ProviderOptions,
    pub(super) seed: u64,
    pub(super) fail_on: Severity,
    pub(super) n_jobs: u16,
    pub(super) repeat: Repeat,
    pub(super) out: Option<&'a Path>,
}

/// The conversation in each dialect, and the chosen faults.
struct Space {
    /// The conversation's name, as the user gave it.
    named: String,
    base: Base,
    grounds: Vec<Ground>,
    chosen: Vec<Candidate>,
}

/// The results of an exploration on one system.
#[derive(Default)]
struct Outcomes {
    counts: BTreeMap<Verdict, usize>,
    failures: Vec<Failure>,
    /// The cases that decide the exit code: everything but passes, and one pass for all of them.
    kept: Vec<Case>,
    is_whole: bool,
}

impl Exploration<'_> {
    pub(super) fn run(&self) -> Outcome {
        let systems = self.system.systems()?;
        let space = self.space()?;
        failure::make_folder(self.out)?;
        let codes = systems.iter().map(|system| self.run_on(system, &space));
        let codes: Vec<u8> = codes.collect::<Result<_, _>>()?;
        Ok(codes.into_iter().max_by_key(|code| RANK.iter().position(|known| known == code)).unwrap_or(0))
    }

    /// Prepares the exploration. Which actions can be combined is worked out here, on all cores.
    fn space(&self) -> Result<Space, CliError> {
        let (named, name, scenario) = self.conversation()?;
        let base = Base::of(&format!("explore/{name}"), &scenario, self.seed);
        let dialects = self.provider.dialects();
        let grounds: Vec<Ground> = dialects.par_iter().map(|dialect| base.ground(*dialect)).collect();
        let depth = match self.options.explore {
            Some(ExploreDepth::Pairs) => Depth::Pairs,
            Some(ExploreDepth::Singles) | None => Depth::Singles,
        };
        let all = candidates(&grounds, depth);
        let is_possible = |candidate: &Candidate| base.plan_of(&grounds, candidate).is_some();
        let mut chosen: Vec<Candidate> = match self.options.limit {
            Some(limit) => all.into_iter().filter(is_possible).take(limit).collect(),
            None => all.into_par_iter().filter(is_possible).collect(),
        };
        chosen.sort_by(|a, b| a.rank().cmp(&b.rank()));
        if chosen.is_empty() {
            let words =
                "no fault applies to this scenario in these dialects\nhint: does any of them support it?";
            return Err(CliError::input(format!("{name}: {words}")));
        }
        Ok(Space { named, base, grounds, chosen })
    }

    /// The conversation's name as given by the user, the name of its plans, and the scenario.
    fn conversation(&self) -> Result<(String, String, Scenario), CliError> {
        match &self.options.from {
            Some(file) => {
                let conversation = recorded::conversation(file)?;
                tell(format!("brickbat: {}", conversation.words));
                Ok((file.clone(), conversation.name, conversation.scenario))
            }
            None => {
                let (name, scenario) = one_scenario(&self.options.base)?;
                Ok((self.options.base.clone(), name, scenario))
            }
        }
    }

    fn run_on(&self, system: &System, space: &Space) -> Outcome {
        let outcomes = self.outcomes(system, space)?;
        let name = outcomes.kept.first().map_or_else(|| system.name(), |case| case.system.clone());
        let causes = causes(outcomes.failures, &space.grounds);
        let mut files = BTreeMap::new();
        for cause in &causes {
            self.report(&name, system, space, cause, &mut files)?;
        }
        let unjudged = outcomes.kept.iter().filter(|case| case.verdict.is_unjudged());
        unjudged.take(MAX_UNJUDGED).for_each(|case| print(&format!("{}\n", text::line(case))));
        let n_single = space.chosen.iter().filter(|candidate| candidate.injections.len() == 1).count();
        let report = Report::new(self.seed, Vec::new(), outcomes.kept);
        let code = if outcomes.is_whole { report.exit_code(self.fail_on) } else { UNJUDGED };
        let tone = if code == 0 { Tone::Good } else { Tone::Bad };
        print(&format!(
            "{}  {n_single} single actions and {} pairs in {}: {}; {}{}\n",
            paint(tone, &name),
            space.chosen.len() - n_single,
            space.named,
            failure::counts(&outcomes.counts),
            counted(causes.len(), "distinct failure"),
            if outcomes.is_whole { "" } else { "; interrupted before the end" },
        ));
        Ok(code)
    }

    /// Runs everything on one system.
    fn outcomes(&self, system: &System, space: &Space) -> Result<Outcomes, CliError> {
        let launch = Launch::new(self.provider.profiles())?;
        let options = Options { repeat: self.repeat, ..launch.options(self.n_jobs) };
        let progress = Progress::on(system);
        let n_all = space.chosen.len();
        // Results so far are kept, whatever happens to the rest.
        let outcomes = Mutex::new(Outcomes::default());
        let run = async {
            for (at, chunk) in space.chosen.chunks(CHUNK).enumerate() {
                let (known, jobs) = jobs(space, chunk);
                let on_case = |case: &Case, n_done: usize, _| {
                    outcomes.lock().unwrap_or_else(PoisonError::into_inner).add(case, &known);
                    progress.case(case, (at * CHUNK + n_done).min(n_all), n_all);
                };
                run_on(system, &jobs, options, &|words| progress.note(words), &on_case).await?;
            }
            Ok::<(), CliError>(())
        };
        let is_whole = block_on(until_interrupted(run))?.transpose()?.is_some();
        let outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Outcomes { is_whole, ..outcomes })
    }

    /// Prints a distinct failure, and writes its scenario.
    fn report(
        &self,
        name: &str,
        system: &System,
        space: &Space,
        cause: &Cause,
        files: &mut BTreeMap<String, usize>,
    ) -> Result<(), CliError> {
        let (signature, finding) = (&cause.signature, &cause.finding);
        let tone = if finding.severity <= self.fail_on { Tone::Bad } else { Tone::Warn };
        let injections = cause.fewest.injections(&space.grounds);
        let dialect = space.grounds[cause.fewest.ground].dialect;
        let words: Vec<String> = injections.iter().map(|injection| injection.words()).collect();
        let words = if words.is_empty() { "nothing goes wrong".to_owned() } else { words.join(", and ") };
        let mut scenario = space.base.with(&injections);
        let mut text = failure::headline(tone, finding);
        text.push_str(&format!("  {words} on {dialect}\n{}", failure::actions(&scenario)));
        text.push_str(&failure::extent(cause.n_plans, cause.dialects.iter().map(|dialect| dialect.name())));
        text.push('\n');
        if let Some(folder) = self.out {
            let found = format!("Found on {name} by exploring {}", space.named);
            let path = file_of(folder, cause, files);
            scenario.comment = failure::comment(&found, &words, finding);
            scenario.class = vec!["explored".to_owned()];
            scenario.found = Some(signature.found(&redactor().text(name), dialect, self.seed));
            failure::write(&path, &scenario)?;
            let (file, options) = (quoted(&path.to_string_lossy()), system.options(name));
            text.push_str(&format!("  again: brickbat run {file} {options} --dialect {dialect}\n"));
        }
        print(&format!("{text}\n"));
        Ok(())
    }
}

/// Exit codes in increasing order of precedence.
const RANK: [u8; 5] = [0, 3, 1, 2, 4];

/// The candidates' plans, each with its candidate.
fn jobs<'a>(space: &Space, chunk: &'a [Candidate]) -> (BTreeMap<String, &'a Candidate>, Vec<Job>) {
    let plans = chunk
        .iter()
        .filter_map(|candidate| Some((candidate, space.base.plan_of(&space.grounds, candidate)?)));
    plans
        .map(|(candidate, plan)| ((plan.id.to_string(), candidate), Job { plan: Arc::new(plan), path: None }))
        .unzip()
}

impl Outcomes {
    fn add(&mut self, case: &Case, known: &BTreeMap<String, &Candidate>) {
        *self.counts.entry(case.verdict).or_insert(0) += 1;
        let plan = plan_of(case);
        if let (Verdict::Fail, Some(candidate)) = (case.verdict, known.get(plan)) {
            let mut candidate = (*candidate).clone();
            if plan.len() < case.plan.len() {
                candidate.injections.clear();
            }
            self.failures.push(Failure { candidate, findings: case.findings.clone() });
        }
        // The actions of a pair may exclude each other, so an unproven action in a pair does not count as a
        // gap.
        let is_pair = known.get(plan).is_some_and(|candidate| candidate.injections.len() > 1);
        if case.verdict == Verdict::Vacuous && is_pair {
            return;
        }
        let is_first_pass = case.verdict == Verdict::Pass && self.counts.get(&Verdict::Pass) == Some(&1);
        if is_first_pass || case.verdict != Verdict::Pass {
            self.kept.push(case.clone());
        }
    }
}

/// A file name unique to this failure.
fn file_of(folder: &Path, cause: &Cause, files: &mut BTreeMap<String, usize>) -> PathBuf {
    let kinds: Vec<&str> = cause.kinds.iter().map(|kind| kind.name()).collect();
    let kinds = if kinds.is_empty() { "nothing".to_owned() } else { kinds.join("-") };
    let name = format!("{}-{kinds}", cause.signature.severity.name());
    let number = files.entry(name.clone()).and_modify(|n| *n += 1).or_insert(1);
    folder.join(if *number == 1 { format!("{name}.yaml") } else { format!("{name}-{number}.yaml") })
}
