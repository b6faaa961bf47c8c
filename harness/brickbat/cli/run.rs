//! `brickbat run`.

mod gathered;
mod headings;
mod play;
mod records;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use super::baseline::{BaselineOptions, PendingBaseline};
use super::chosen::Chosen;
use super::error::{CliError, Outcome};
use super::explore::{Exploration, ExploreOptions};
use super::keep::Regressions;
use super::launch::Launch;
use super::library::{self, Selection, Source};
use super::mending::{Mending, Treatment};
use super::options::{
    self, ConfirmOptions, FailOnOptions, JobOptions, PlanOptions, ProviderOptions, SystemOptions,
};
use super::output::{paint, print, tell};
use super::progress::{FoundCauses, Progress};
use super::reports::ReportOptions;
use super::requirements::Requirements;
use super::runs;
use super::secrets::redactor;
use super::terminal::{room, width};
use super::work::Work;
use brickbat_drive::folder::{self, RunCase, RunCause, RunFolder, RunNote, case_path};
use brickbat_drive::runner::{Job, Keep, Options, System, quoted};
use brickbat_report::baseline::Baseline;
use brickbat_report::record::Record;
use brickbat_report::report::annotations;
use brickbat_report::report::brief::{self, Page};
use brickbat_report::report::{Case, Circumstances, EarlyEnd, Report, Shard, Timing, text};
use brickbat_rules::dialect::Dialect;
use brickbat_rules::redact::Redactor;
use brickbat_scenario::premise::Premise;
use brickbat_scenario::verdict::Verdict;
use play::{Play, Played};
use records::Records;

/// Run scenarios against systems and judge what the systems do.
#[derive(Args)]
#[command(after_help = EXAMPLES, mut_arg("systems", |arg| arg.help(SYSTEM_HELP)), mut_args(headings::headed))]
pub(super) struct Run {
    #[command(flatten)]
    plans: PlanOptions,
    #[command(flatten)]
    system: SystemOptions,
    #[command(flatten)]
    provider: ProviderOptions,
    /// The model that systems are asked to use, such as `claude-opus-4-6`. By default each system uses its adapter's
    /// model, or a newer one if the provider would refuse the plan's history with that model.
    #[arg(long, value_name = "NAME", value_parser = options::model, conflicts_with = "explore")]
    model: Option<String>,
    /// Run only plans with one of these premises, separated by commas: who does the unusual thing, such as
    /// `user,network`.
    #[arg(
        long = "premise", value_name = "PREMISE", value_parser = options::premise, value_delimiter = ',',
        conflicts_with = "explore"
    )]
    premises: Vec<Premise>,
    /// Print the ids of the plans and run nothing.
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    threshold: FailOnOptions,
    #[command(flatten)]
    baseline: BaselineOptions,
    /// Stop at the first plan that fails the run.
    #[arg(long)]
    fail_fast: bool,
    #[command(flatten)]
    concurrency: JobOptions,
    /// How many times to run each plan; if the runs of a case differ, the report lists the number of runs with each
    /// result.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    repeat: u16,
    #[command(flatten)]
    confirm: ConfirmOptions,
    #[command(flatten)]
    report: ReportOptions,
    /// Judge systems only by the scenarios, checks and profiles in the dated requirement set with this name, such as
    /// `2026-11`.
    #[arg(long, value_name = "SET", value_parser = Requirements::named, conflicts_with_all = ["profiles", "explore", "rerun_failed"])]
    requirements: Option<Requirements>,
    /// The output format: human-readable text, GitHub workflow annotations, or SARIF 2.1.0 for code scanning.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,
    /// Run only this part of the plans, such as `2/4` for the second of four; `brickbat merge` joins the JSON reports
    /// of all parts. A plan's id alone decides which part it belongs to.
    #[arg(long, value_name = "I/N", value_parser = Shard::parse)]
    shard: Option<Shard>,
    /// Print every plan that did not pass, and the faults, checks and level of each system, before the closing block.
    #[arg(long)]
    verbose: bool,
    /// Keep a record of each case in this directory: trace, requests and responses, receipts, ledger, the adapter's
    /// standard error and the verdict. `brickbat show` reads it. By default, the cache folder keeps the cases that did
    /// not pass in the last runs of the project. With --explore, the directory gets a scenario for each distinct failure instead.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print only the closing block: no progress, and no line when a cause is found.
    #[arg(long, conflicts_with = "verbose")]
    quiet: bool,
    /// Stop after this time, such as `10m`, and report everything judged until then.
    #[arg(long, value_name = "T", value_parser = options::duration)]
    timeout: Option<Duration>,
    /// Keep no record.
    #[arg(long, conflicts_with = "out")]
    no_out: bool,
    /// Repair what a system has stored before a new process loads a session from it, as `brickbat repair` would, to see
    /// whether the repaired thread continues. Failures then belong to the system and the repair together, so they
    /// cannot go into a baseline.
    #[arg(long, conflicts_with_all = ["explore", "rerun_failed", "files", "write"])]
    repair: bool,
    /// Rerun the failed, unjudged and unreached cases of an earlier run, with the same systems, profiles and seed. DIR
    /// is its --out directory.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = [
            "scenarios", "systems", "manifest", "command", "sdk_version", "dialects", "profiles", "model", "filter",
            "premises", "exclude", "seed", "shard", "patience",
        ]
    )]
    rerun_failed: Option<PathBuf>,
    #[command(flatten)]
    explore: ExploreOptions,
}

/// The help of `--system`, which other commands take once.
const SYSTEM_HELP: &str = "A system to run on, such as `ai-sdk@6/ui-messages`; by default the one in the nearest \
     `brickbat/system.yaml` in or above the working directory, otherwise the reference agent. With --manifest, a name \
     from that manifest. May be repeated";

const EXAMPLES: &str = "Examples:
  brickbat run
  brickbat run abort/ --system ai-sdk@6/ui-messages --report report.json
  brickbat run 'abort/mid-batch#k=1@anthropic-messages'
  brickbat run --system ai-sdk@6/ui-messages-clean --fail-on bricked
  brickbat run --manifest my-agent/system.yaml abort/
  brickbat run --command 'node adapter.mjs' abort/mid-batch
  brickbat run abort/ --out last
  brickbat run --rerun-failed last
  brickbat run --explore pairs --system ai-sdk@7/ui-messages --limit 500 --out found
  brickbat run --explore singles --from rec.jsonl --system ai-sdk@7/ui-messages
  brickbat run --system ai-sdk@7/ui-messages --shard 2/4 --report shard-2.json
  brickbat run abort/ --system ai-sdk@6/ui-messages --dialect openai-chat --baseline

Exit codes: 0 as expected, 1 findings, 2 usage or bad input, 3 could not judge, 4 the reference agent failed.";

impl Run {
    pub(super) fn execute(&self) -> Outcome {
        if self.explore.is_asked() {
            return self.exploration().run();
        }
        if self.list && self.rerun_failed.is_none() {
            let mut jobs = self.chosen().jobs()?;
            if let Some(set) = &self.requirements {
                jobs.retain(|job| set.has(job));
            }
            list(&jobs, self.shard);
            return Ok(0);
        }
        let mut work = match &self.rerun_failed {
            Some(folder) => Work::again(folder)?,
            None => Work::of(self.chosen())?,
        };
        if let Some(set) = &self.requirements {
            work.batches.iter_mut().for_each(|(_, jobs)| jobs.retain(|job| set.has(job)));
        }
        if work.batches.is_empty() {
            print("nothing to run again: every case passed, or was unreachable or unsupported\n");
            return Ok(0);
        }
        if self.list {
            work.batches.iter().for_each(|(_, jobs)| list(jobs, work.chosen.shard));
            return Ok(0);
        }
        self.report.check_writable()?;
        let is_whole = !work.chosen.is_part() && work.chosen.shard.is_none() && self.rerun_failed.is_none();
        let of_kept = if is_whole { Regressions::near().judge()? } else { 0 };
        // A killed process no longer runs its calls, so an open tail would never get results.
        let treatment = Treatment { plant: None, repairs: true, fills_tail: true };
        let mending = self.repair.then(|| Mending::new(treatment, self.verbose));
        if let Some(mending) = &mending {
            let mended = |(system, jobs): (System, Vec<Job>)| (system.with_mend(mending.mend()), jobs);
            work.batches = work.batches.into_iter().map(mended).collect();
        }
        let systems: Vec<&System> = work.batches.iter().map(|(system, _)| system).collect();
        let baselines = self.baseline.load(&systems)?;
        let pending = self.baseline.pending()?;
        let folder = self.folder(&work)?;
        let report = self.run(&work, &folder, &baselines).inspect_err(|_| folder.discard())?;
        let code = self.conclude(&work, &folder, pending, &report)?;
        if let Some(mending) = mending {
            tell(mending.summary());
        }
        Ok(code.max(of_kept))
    }

    /// The folder with the project's own scenarios, if they belong to this run.
    fn regressions(&self) -> Option<PathBuf> {
        let is_of_set = self.requirements.is_some();
        let beside = || Regressions::beside(&self.plans.scenarios, self.plans.filter.as_deref(), self.shard);
        if is_of_set { None } else { beside() }
    }

    /// The systems and plans that the options name.
    fn chosen(&self) -> Chosen {
        Chosen {
            scenarios: self.plans.scenarios.clone(),
            regressions: self.regressions(),
            system: self.system.clone(),
            model: self.model.clone(),
            dialects: self.provider.dialects().to_vec(),
            profiles: match &self.requirements {
                Some(set) => set.profiles.clone(),
                None => self.provider.profiles(),
            },
            premises: self.premises.clone(),
            filter: self.plans.filter.clone(),
            exclude: self.plans.exclude.clone(),
            seed: self.plans.seed,
            shard: self.shard,
        }
    }

    /// The set of requirements that the run covers completely, if any.
    fn whole_requirements(&self, work: &Work, cases: &[Case]) -> Option<Requirements> {
        if work.chosen.is_part() || self.rerun_failed.is_some() {
            return None;
        }
        let set = self.requirements.clone().or_else(Requirements::newest)?;
        let (dialects, profiles) = (self.provider.dialects(), &work.chosen.profiles);
        let are_whole = work.batches.iter().all(|(system, _)| set.are_whole(system, dialects, profiles));
        (are_whole && (work.chosen.shard.is_some() || set.ran_in(cases))).then_some(set)
    }

    fn exploration(&self) -> Exploration<'_> {
        // Every option is named here, so that a new one is either passed on, or refused beside `--explore`.
        let Run {
            plans: PlanOptions { seed, scenarios: _, filter: _, exclude: _ },
            system,
            provider,
            threshold: FailOnOptions { fail_on },
            concurrency: JobOptions { jobs },
            repeat,
            confirm,
            out,
            explore,
            // An exploration keeps no records anyway.
            no_out: _,
            model: _,
            premises: _,
            list: _,
            baseline: _,
            fail_fast: _,
            report: _,
            requirements: _,
            format: _,
            shard: _,
            verbose: _,
            quiet: _,
            timeout: _,
            repair: _,
            rerun_failed: _,
        } = self;
        Exploration {
            options: explore,
            system,
            provider,
            seed: *seed,
            fail_on: *fail_on,
            n_jobs: *jobs,
            repeat: confirm.repeat(*repeat),
            out: out.as_deref(),
        }
    }

    /// Where the records go.
    fn folder(&self, work: &Work) -> Result<Records, CliError> {
        let Some(path) = &self.out else {
            let path = if self.no_out { None } else { runs::new_folder() };
            // A run does not need the cache: if it cannot be written, no records are kept.
            let folder = path.and_then(|path| RunFolder::create(&path, &note(work, None)).ok());
            return Ok(folder.map_or(Records::None, Records::Cached));
        };
        let is_same = |other: &PathBuf| {
            path.canonicalize().ok().is_some_and(|path| other.canonicalize().ok() == Some(path))
        };
        if self.rerun_failed.as_ref().is_some_and(is_same) {
            let words = "--out and --rerun-failed name the same directory\nhint: choose another one";
            return Err(CliError::input(words));
        }
        Ok(Records::Asked(RunFolder::create(path, &note(work, None))?))
    }

    /// Runs everything. If the user interrupts it, the report contains the results so far.
    fn run(&self, work: &Work, records: &Records, baselines: &[Baseline]) -> Result<Report, CliError> {
        let started = Instant::now();
        let launch = Launch::new(work.chosen.profiles.clone())?;
        let keep = |record: &Record, redactor: &Redactor| records.keep(record, redactor);
        let options = Options {
            fail_fast: self.fail_fast.then_some(self.threshold.fail_on),
            repeat: self.confirm.repeat(self.repeat),
            shard: work.chosen.shard,
            baselines,
            keep: (!matches!(records, Records::None)).then_some(Keep(&keep)),
            ..launch.options(self.concurrency.jobs)
        };
        let causes = Arc::new(Mutex::new(FoundCauses::new(self.threshold.fail_on)));
        let progress = |system: &System| match (self.quiet, self.format) {
            (true, _) => Progress::silent(),
            (false, OutputFormat::Text) => Progress::on(system).with_causes(Arc::clone(&causes)),
            (false, OutputFormat::Github | OutputFormat::Sarif) => Progress::on(system),
        };
        let play = Play { work, options, progress: &progress, gathered: Mutex::default() };
        let Played { cases, stopped } = play.run(self.timeout)?;
        let cases: Vec<Case> = match &self.requirements {
            Some(set) => cases.into_iter().map(|case| case.judged_by(&set.checks)).collect(),
            None => cases,
        };
        // If the last plan of all was the first red one, everything has run, and the run was not stopped
        // early.
        let is_part = |case: &Case| case.unconfirmed || case.verdict == Verdict::NotRun;
        let stopped = stopped.filter(|_| cases.iter().any(is_part));
        let confirms = self.confirm.confirms();
        let circumstances = Circumstances {
            requirements: self.whole_requirements(work, &cases).map(|set| set.name),
            selection: work.chosen.selection(),
            shard: work.chosen.shard,
            stopped: stopped.map(|why| EarlyEnd { why: why.to_owned(), confirms }),
            wall_ms: Some(started.elapsed().as_millis() as u64),
        };
        let (seed, profiles) = (work.chosen.seed, work.chosen.profile_names());
        let mut report = Report::compared(seed, profiles, cases, baselines).of_run(circumstances);
        report.redact(redactor());
        Ok(report)
    }

    /// Prints the report and writes everything that was requested.
    fn conclude(
        &self,
        work: &Work,
        records: &Records,
        pending: Option<PendingBaseline<'_>>,
        report: &Report,
    ) -> Outcome {
        let fail_on = self.threshold.fail_on;
        // First, so that the output proposes no command for a case that could not be kept.
        let unkept = records.finish(&note(work, Some(report)), report);
        if self.verbose && self.format == OutputFormat::Text {
            print(&format!("{}\n", text::render(report, fail_on, paint)));
        }
        let kept = |case: &Case| {
            let options = match records {
                Records::Asked(_) => format!(" --out {}", quoted(&self.out.as_ref()?.to_string_lossy())),
                Records::None | Records::Cached(_) => String::new(),
            };
            records.has(case).then_some(options)
        };
        match self.format {
            OutputFormat::Text => {
                let page = Page { width: width(), room: room(), fail_on, kept: &kept, paint: &paint };
                print(&brief::render(report, &page));
            }
            OutputFormat::Github => print(&annotations::to_github(report, fail_on)),
            OutputFormat::Sarif => print(&annotations::to_sarif(report, fail_on)),
        }
        if let Some(unkept) = unkept {
            tell(unkept);
        }
        let examples = if self.report.shows_records() { records.examples(report) } else { Vec::new() };
        self.report.write(report, fail_on, &examples);
        if let Some(pending) = pending {
            pending.write(report, &self.known_plans(work))?;
        }
        Ok(report.exit_code(fail_on))
    }

    /// The ids of all plans, from built-in scenarios and the user's files, whether they ran or not.
    fn known_plans(&self, work: &Work) -> BTreeSet<String> {
        let of = |sources: &[Source]| {
            let all = Selection { sources, dialects: &Dialect::ALL, filter: None, seed: self.plans.seed };
            library::load(&all).unwrap_or_default()
        };
        let files: Vec<Source> = work.chosen.scenarios.iter().map(|word| Source::of(word)).collect();
        let all = [of(&[]), of(&files)].concat();
        let ran = work.batches.iter().flat_map(|(_, jobs)| jobs);
        ran.chain(&all).map(|job| job.plan.id.to_string()).collect()
    }
}

/// The format of a run's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// Human-readable text.
    Text,
    /// GitHub workflow annotations.
    Github,
    /// SARIF 2.1.0 for code scanning.
    Sarif,
}

fn list(jobs: &[Job], shard: Option<Shard>) {
    let ids = jobs.iter().map(|job| job.plan.id.to_string());
    ids.filter(|id| shard.is_none_or(|shard| shard.holds(id))).for_each(|id| print(&format!("{id}\n")));
}

/// The causes that a report prints, each with the finding that represents it.
fn causes(report: &Report) -> Vec<RunCause> {
    let causes = report.causes();
    let noted = causes.iter().filter_map(|cause| {
        let (case, finding) = cause.example()?;
        let finding = case.findings.iter().position(|known| std::ptr::eq(known, finding))?;
        Some(RunCause { id: cause.id(), system: case.system.clone(), plan: case.plan.clone(), finding })
    });
    noted.collect()
}

/// The `run.json` of a run, at its beginning and at its end.
fn note(work: &Work, report: Option<&Report>) -> RunNote {
    let mut arguments = work.chosen.arguments();
    arguments.words_mut().for_each(|word| redactor().string(word));
    let cases = report.into_iter().flat_map(|report| &report.cases).map(|case| RunCase {
        system: case.system.clone(),
        plan: case.plan.clone(),
        verdict: case.verdict,
        folder: case_path(&case.system, &case.plan),
    });
    RunNote {
        kind: folder::KIND.to_owned(),
        schema: folder::SCHEMA,
        brickbat: env!("CARGO_PKG_VERSION").to_owned(),
        arguments,
        finished: report.is_some(),
        cases: cases.collect(),
        causes: report.map(causes).unwrap_or_default(),
        timing: report.and_then(|report| Some(Timing { cases_ms: Vec::new(), ..report.timing.clone()? })),
    }
}
