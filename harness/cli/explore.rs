//! `brickbat run --explore`: one conversation, with everything that can go wrong in it, and the causes of what fails.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use clap::{Args, ValueEnum};
use rayon::prelude::*;

use super::interrupt::until_interrupted;
use super::progress::Progress;
use super::run::{Run, paint, profiles};
use super::secrets::redactor;
use super::shrink::options;
use super::{bad_input, block_on, own_program, print};
use brickbat_drive::runner::{self, Job, Options, Repeat, System, quoted};
use brickbat_report::report::text::{self, Tone};
use brickbat_report::report::{Case, Report};
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::verdict::Verdict;
use brickbat_scenario::yaml;
use brickbat_search::explore::cause::{Cause, Failure, causes};
use brickbat_search::explore::{Base, Candidate, Depth, Ground, candidates};

/// What is explored.
#[derive(Args)]
pub(super) struct ExploreOptions {
    /// Explore one conversation instead: run a stop, kill, break, error, refusal, pause and early result at every point of
    /// it, or every pair of them as well, and tell one plan for each cause, the one with the fewest and earliest actions.
    /// --out takes them as scenario files.
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        conflicts_with_all = [
            "scenarios", "filter", "list", "files", "write", "fail_fast", "reports", "rerun_failed", "shard",
        ]
    )]
    pub(super) explore: Option<What>,
    /// The scenario whose conversation is explored, without what goes wrong in it: a file, or a built-in one, with its
    /// variant if it has several.
    #[arg(long, value_name = "SCENARIO", requires = "explore", default_value = "control/plain-batch")]
    base: String,
    /// So many plans at the most: a stable spread, single actions first.
    #[arg(long, value_name = "N", requires = "explore")]
    limit: Option<usize>,
}

/// How many actions come together.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum What {
    /// Single actions.
    Singles,
    /// Single actions, and pairs of them.
    Pairs,
}

/// Plans that are held at once; their outcomes are all that is kept of them.
const CHUNK: usize = 2_000;

/// What an exploration has shown of one system.
#[derive(Default)]
struct Shown {
    counts: BTreeMap<Verdict, usize>,
    failures: Vec<Failure>,
    /// What the exit code rests on: everything but passes, of which one stands for all.
    kept: Vec<Case>,
    /// Nobody has interrupted it.
    is_whole: bool,
}

/// What is explored, and what of it.
struct Plot {
    base: Base,
    grounds: Vec<Ground>,
    chosen: Vec<Candidate>,
}

impl Run {
    /// Explores, and gives the exit code.
    pub(super) fn explore(&self, what: What) -> u8 {
        let systems = match self.own.systems(&self.systems) {
            Ok(systems) => systems,
            Err(error) => return bad_input(error),
        };
        let plot = match self.plot(what) {
            Ok(plot) => plot,
            Err(code) => return code,
        };
        if let Some(folder) = &self.out
            && let Err(error) = std::fs::create_dir_all(folder)
        {
            return bad_input(format!("error: cannot make {}: {error}", folder.display()));
        }
        let codes: Result<Vec<u8>, u8> =
            systems.iter().map(|system| self.explore_on(system, &plot)).collect();
        codes.map_or_else(
            |code| code,
            |codes| {
                codes.into_iter().max_by_key(|code| RANK.iter().position(|known| known == code)).unwrap_or(0)
            },
        )
    }

    /// What there is to explore. Which actions go together is found out here, on all cores.
    fn plot(&self, what: What) -> Result<Plot, u8> {
        let dialects = if self.dialects.is_empty() { &Dialect::ALL[..] } else { &self.dialects };
        let (name, scenario) = super::library::one_scenario(&self.explore.base).map_err(bad_input)?;
        let base = Base::of(&format!("explore/{name}"), &scenario, self.seed);
        let grounds: Vec<Ground> = dialects.par_iter().map(|dialect| base.ground(*dialect)).collect();
        let depth = match what {
            What::Singles => Depth::Singles,
            What::Pairs => Depth::Pairs,
        };
        let all = candidates(&grounds, depth);
        let is_possible = |candidate: &Candidate| base.plan_of(&grounds, candidate).is_some();
        let mut chosen: Vec<Candidate> = match self.explore.limit {
            Some(limit) => all.into_iter().filter(is_possible).take(limit).collect(),
            None => all.into_par_iter().filter(is_possible).collect(),
        };
        chosen.sort_by(|a, b| a.rank().cmp(&b.rank()));
        if chosen.is_empty() {
            let words =
                format!("error: nothing can go wrong in {name} on these dialects\nhint: is it played there?");
            return Err(bad_input(words));
        }
        Ok(Plot { base, grounds, chosen })
    }

    fn explore_on(&self, system: &System, plot: &Plot) -> Result<u8, u8> {
        let shown = self.shown(system, plot)?;
        let name = shown.kept.first().map_or_else(|| system.name(), |case| case.system.clone());
        let causes = causes(shown.failures, &plot.grounds);
        let mut files = BTreeMap::new();
        for cause in &causes {
            self.tell(&name, system, plot, cause, &mut files)?;
        }
        let unjudged = shown.kept.iter().filter(|case| case.judged.is_unjudged());
        unjudged.take(MAX_UNJUDGED).for_each(|case| print(&format!("{}\n", text::line(case))));
        let n_single = plot.chosen.iter().filter(|candidate| candidate.injections.len() == 1).count();
        let counts: Vec<String> =
            shown.counts.iter().map(|(verdict, n)| format!("{n} {}", verdict.name())).collect();
        let report = Report::new(self.seed, Vec::new(), shown.kept);
        let code = if shown.is_whole { report.exit_code(self.fail_on) } else { INTERRUPTED };
        let tone = if code == 0 { Tone::Good } else { Tone::Bad };
        print(&format!(
            "{}  {n_single} single actions and {} pairs over {}: {}; {} causes{}\n",
            paint(tone, &name),
            plot.chosen.len() - n_single,
            self.explore.base,
            counts.join(", "),
            causes.len(),
            if shown.is_whole { "" } else { "; interrupted before the end" },
        ));
        Ok(code)
    }

    /// Runs everything on a system.
    fn shown(&self, system: &System, plot: &Plot) -> Result<Shown, u8> {
        let supervisor = own_program()?;
        let profiles = profiles(&self.profiles);
        let repeat = Repeat { times: self.repeat, confirm: !self.no_confirm };
        let options = Options { repeat, ..options(&profiles, &supervisor, usize::from(self.jobs)) };
        let progress = Progress::on(&redactor().text(&system.name()));
        let note = |words: &str| progress.note(&redactor().text(words));
        // What is shown stays, whatever becomes of the rest.
        let shown = Mutex::new(Shown::default());
        let run = async {
            for (at, chunk) in plot.chosen.chunks(CHUNK).enumerate() {
                let (known, jobs) = jobs(plot, chunk);
                let on_case = |case: &Case, n_done: usize, _| {
                    shown.lock().unwrap_or_else(PoisonError::into_inner).add(case, &known);
                    progress.case(case, (at * CHUNK + n_done).min(plot.chosen.len()), plot.chosen.len());
                };
                runner::run(system, &jobs, options, &note, &on_case).await;
            }
        };
        let is_whole = block_on(until_interrupted(run))?.is_some();
        let mut shown = shown.into_inner().unwrap_or_else(PoisonError::into_inner);
        shown.is_whole = is_whole;
        Ok(shown)
    }

    /// Tells a cause, and writes its scenario.
    fn tell(
        &self,
        name: &str,
        system: &System,
        plot: &Plot,
        cause: &Cause,
        files: &mut BTreeMap<String, usize>,
    ) -> Result<(), u8> {
        let (signature, finding) = (&cause.signature, &cause.finding);
        let tone = if signature.harm <= self.fail_on { Tone::Bad } else { Tone::Warn };
        let injections = cause.fewest.injections(&plot.grounds);
        let dialect = plot.grounds[cause.fewest.ground].dialect;
        let dialects: Vec<&str> = cause.dialects.iter().map(|dialect| dialect.name()).collect();
        let words: Vec<String> = injections.iter().map(|injection| injection.words()).collect();
        let words = if words.is_empty() { "nothing goes wrong".to_owned() } else { words.join(", and ") };
        let mut text = format!("{} {}\n", paint(tone, signature.harm.name()), signature.check);
        let rule = finding.rule.map(|rule| format!("  rule {rule}")).unwrap_or_default();
        text.push_str(&format!("  {}{rule}\n  {} on {dialect}\n", finding.message, words));
        for injection in &injections {
            text.push_str(&format!("    - {}\n", yaml::action(&injection.at)));
        }
        let plans = if cause.n_plans == 1 { "1 plan".to_owned() } else { format!("{} plans", cause.n_plans) };
        text.push_str(&format!("  in {plans}; {}\n", dialects.join(", ")));
        if let Some(folder) = &self.out {
            let comment = format!(
                "Found on {name} by exploring {}: {words}; then {} fails, because {}.",
                self.explore.base,
                signature.check,
                finding.message.trim_end_matches('.'),
            );
            let path = file_of(folder, cause, files);
            let mut scenario = plot.base.with(&injections);
            scenario.comment = redactor().text(&comment).to_string();
            scenario.class = vec!["explored".to_owned()];
            scenario.found = Some(signature.found(&redactor().text(name), dialect, self.seed));
            std::fs::write(&path, yaml::text(&scenario))
                .map_err(|error| bad_input(format!("error: cannot write {}: {error}", path.display())))?;
            let (file, options) = (quoted(&path.to_string_lossy()), system.options(name));
            text.push_str(&format!("  again: brickbat run {file} {options} --dialect {dialect}\n"));
        }
        print(&format!("{text}\n"));
        Ok(())
    }
}

/// Plans that could not be judged and are named; the summary counts all.
const MAX_UNJUDGED: usize = 5;

/// Exit codes, what outranks the others last.
const RANK: [u8; 5] = [0, 3, 1, 2, 4];

/// Exit code of an exploration that the user has ended.
const INTERRUPTED: u8 = 3;

/// The plans of candidates, and which candidate each is of.
fn jobs<'a>(plot: &Plot, chunk: &'a [Candidate]) -> (BTreeMap<String, &'a Candidate>, Vec<Job>) {
    let plans =
        chunk.iter().filter_map(|candidate| Some((candidate, plot.base.plan_of(&plot.grounds, candidate)?)));
    plans
        .map(|(candidate, plan)| ((plan.id.to_string(), candidate), Job { plan: Arc::new(plan), path: None }))
        .unzip()
}

impl Shown {
    fn add(&mut self, case: &Case, known: &BTreeMap<String, &Candidate>) {
        *self.counts.entry(case.judged).or_insert(0) += 1;
        let plan = case.plan.strip_suffix("+control").unwrap_or(&case.plan);
        if let (Verdict::Fail, Some(candidate)) = (case.judged, known.get(plan)) {
            let mut candidate = (*candidate).clone();
            if plan.len() < case.plan.len() {
                candidate.injections.clear();
            }
            self.failures.push(Failure { candidate, findings: case.findings.clone() });
        }
        // Nobody has claimed that the actions of a pair go together: one of which one is not proven says nothing.
        let is_pair = known.get(plan).is_some_and(|candidate| candidate.injections.len() > 1);
        if case.judged == Verdict::Vacuous && is_pair {
            return;
        }
        let is_first_pass = case.judged == Verdict::Pass && self.counts.get(&Verdict::Pass) == Some(&1);
        if is_first_pass || case.judged != Verdict::Pass {
            self.kept.push(case.clone());
        }
    }
}

/// A file that no other cause has.
fn file_of(folder: &Path, cause: &Cause, files: &mut BTreeMap<String, usize>) -> PathBuf {
    let kinds: Vec<&str> = cause.kinds.iter().map(|kind| kind.name()).collect();
    let kinds = if kinds.is_empty() { "nothing".to_owned() } else { kinds.join("-") };
    let name = format!("{}-{kinds}", cause.signature.harm.name());
    let number = files.entry(name.clone()).and_modify(|n| *n += 1).or_insert(1);
    folder.join(if *number == 1 { format!("{name}.yaml") } else { format!("{name}-{number}.yaml") })
}
