//! `brickbat run`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use clap::Args;

use super::baseline::{BaselineOptions, Pending};
use super::explore::ExploreOptions;
use super::interrupt::until_interrupted;
use super::library::{self, Selection, Source};
use super::own::Own;
use super::progress::Progress;
use super::secrets::redactor;
use super::work::Work;
use super::{bad_input, block_on, own_program, print};
use brickbat_drive::folder::{self, RunCase, RunFolder, RunNote, case_path};
use brickbat_drive::runner::{self, Keep, Options, Repeat, System};
use brickbat_report::baseline::Baseline;
use brickbat_report::record::Record;
use brickbat_report::report::text::Tone;
use brickbat_report::report::{Case, Report, Shard, Timing, junit, text};
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::redact::Redactor;
use brickbat_scenario::verdict::Severity;

/// Runs scenarios on systems and judges what they do.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Run {
    /// A scenario file or folder, or the beginning of a built-in plan's id, such as `abort/`; all built-in ones by
    /// default.
    #[arg(value_name = "SCENARIO")]
    pub(super) scenarios: Vec<String>,
    /// A system to run on, such as `ai-sdk@6/ui-messages`; the reference agent by default. May be repeated.
    /// With --manifest, a name in it.
    #[arg(long = "system", value_name = "NAME")]
    pub(super) systems: Vec<String>,
    #[command(flatten)]
    pub(super) own: Own,
    /// A dialect that the provider speaks; all by default. May be repeated.
    #[arg(long = "dialect", value_name = "DIALECT", value_parser = dialect)]
    pub(super) dialects: Vec<Dialect>,
    /// How strict the provider is, such as `anthropic-messages@2026-05`; the newest by default. May be repeated.
    #[arg(long = "profile", value_name = "PROFILE", value_parser = profile)]
    pub(super) profiles: Vec<&'static Profile>,
    /// Only plans whose id contains this text.
    #[arg(long, value_name = "TEXT")]
    pub(super) filter: Option<String>,
    /// Print the ids of the plans and run nothing.
    #[arg(long)]
    pub(super) list: bool,
    /// The mildest harm that makes the run red: a name from a report, `bricked`, or `any`.
    #[arg(long, value_name = "GRADE", default_value = "any", value_parser = harm)]
    pub(super) fail_on: Severity,
    #[command(flatten)]
    baseline: BaselineOptions,
    /// Stop at the first plan that makes the run red.
    #[arg(long)]
    fail_fast: bool,
    /// Plans at once; an agent that speaks ACP itself runs one at a time.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) jobs: u16,
    /// Runs of each plan; a case whose runs differ says how often it came out so.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(super) repeat: u16,
    /// Do not run a plan with a finding a second time, nor what is doubtful alone.
    #[arg(long)]
    pub(super) no_confirm: bool,
    /// Seed of the wire ids.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(super) seed: u64,
    /// Write a report: JSON if the name ends in `.json`, JUnit if it ends in `.xml`. May be repeated.
    #[arg(long = "report", value_name = "FILE", value_parser = report_path)]
    reports: Vec<PathBuf>,
    /// Run only this part of the plans, such as `2/4`, the second of four; `brickbat merge` joins the JSON reports of
    /// all parts. Where a plan falls depends on its id alone.
    #[arg(long, value_name = "I/N", value_parser = Shard::parse)]
    pub(super) shard: Option<Shard>,
    /// Keep what happened in each case in this folder: trace, requests and responses, receipts, ledger, the adapter's
    /// standard error, verdict. `brickbat show` reads it. With --explore, a scenario for each cause goes there instead.
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Run the cases of a run folder again that were not passed, unreachable or unsupported, and those that an
    /// interrupted run did not come to, with the same systems, profiles and seed.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["scenarios", "systems", "dialects", "profiles", "filter", "seed", "shard"]
    )]
    rerun_failed: Option<PathBuf>,
    #[command(flatten)]
    pub(super) explore: ExploreOptions,
}

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
  brickbat run --system ai-sdk@7/ui-messages --shard 2/4 --report shard-2.json
  brickbat run abort/ --system ai-sdk@6/ui-messages --dialect openai-chat --baseline";

impl Run {
    pub(super) fn execute(&self) -> u8 {
        if let Some(what) = self.explore.explore {
            return self.explore(what);
        }
        let work = match &self.rerun_failed {
            Some(folder) => Work::again(folder),
            None => Work::asked(self),
        };
        let work = match work {
            Ok(work) => work,
            Err(error) => return bad_input(error),
        };
        if work.batches.is_empty() {
            print("nothing to run again: every case passed, or was unreachable or unsupported\n");
            return 0;
        }
        if self.list {
            let ids = work.batches.iter().flat_map(|(_, jobs)| jobs).map(|job| job.plan.id.to_string());
            let ids = ids.filter(|id| work.shard.is_none_or(|shard| shard.holds(id)));
            ids.for_each(|id| print(&format!("{id}\n")));
            return 0;
        }
        // A long run must not end with a report that cannot be written.
        let writable = all_writable(&self.reports);
        let systems: Vec<&System> = work.batches.iter().map(|(system, _)| system).collect();
        let (baselines, pending) = match (self.baseline.load(&systems), self.baseline.pending()) {
            (Ok(baselines), Ok(pending)) => (baselines, pending),
            (Err(code), _) | (_, Err(code)) => return code,
        };
        match writable.and_then(|()| self.folder(&work)) {
            Ok(folder) => self.run(&work, folder.as_ref(), &baselines, pending),
            Err(code) => code,
        }
    }

    /// The run folder, if one is asked for.
    fn folder(&self, work: &Work) -> Result<Option<RunFolder>, u8> {
        let Some(path) = &self.out else { return Ok(None) };
        let same = |other: &PathBuf| {
            path.canonicalize().ok().is_some_and(|path| other.canonicalize().ok() == Some(path))
        };
        if self.rerun_failed.as_ref().is_some_and(same) {
            return Err(bad_input("error: --out is the folder that is run again\nhint: give it another one"));
        }
        RunFolder::create(path, &note(work, None)).map(Some).map_err(bad_input)
    }

    fn run(
        &self,
        work: &Work,
        folder: Option<&RunFolder>,
        baselines: &[Baseline],
        pending: Option<Pending<'_>>,
    ) -> u8 {
        let started = Instant::now();
        let supervisor = match own_program() {
            Ok(supervisor) => supervisor,
            Err(code) => return code,
        };
        let keep = |record: &Record, redactor: &Redactor| {
            if let Some(folder) = folder {
                folder.keep(record, redactor);
            }
        };
        let options = Options {
            profiles: &work.profiles,
            n_jobs: usize::from(self.jobs),
            supervisor: &supervisor,
            fail_fast: self.fail_fast.then_some(self.fail_on),
            repeat: Repeat { times: self.repeat, confirm: !self.no_confirm },
            shard: work.shard,
            baselines,
            redactor: redactor(),
            keep: folder.map(|_| Keep(&keep)),
        };
        // What is done stays, whatever becomes of the rest.
        let done = Mutex::new(Vec::new());
        let run = async {
            let mut cases = Vec::new();
            for (system, jobs) in &work.batches {
                let progress = Progress::on(&redactor().text(&system.name()));
                let note = |words: &str| progress.note(&redactor().text(words));
                let on_case = |case: &Case, n_done, n_all| {
                    done.lock().unwrap_or_else(PoisonError::into_inner).push(case.clone());
                    progress.case(case, n_done, n_all);
                };
                cases.extend(runner::run(system, jobs, options, &note, &on_case).await);
                let red = |harm| cases.iter().any(|case| runner::is_red(case, harm));
                if options.fail_fast.is_some_and(red) {
                    break;
                }
            }
            cases
        };
        let cases = match block_on(until_interrupted(run)) {
            Ok(Some(cases)) => cases,
            Ok(None) => {
                let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
                runner::with_not_reached(&work.batches, &work.profiles, work.shard, done)
            }
            Err(code) => return code,
        };
        let report = Report::new(work.arguments.seed, work.arguments.profiles.clone(), cases);
        let mut report = report.held_against(baselines);
        report.shard = work.shard;
        report.timing = Some(Timing { wall_ms: started.elapsed().as_millis() as u64 });
        report.redact(redactor());
        print(&text::render(&report, self.fail_on, paint));
        if let Err(code) = write_reports(&self.reports, &report, self.fail_on) {
            return code;
        }
        if let Some(Err(code)) = pending.map(|pending| pending.write(&report, &self.known_plans(work))) {
            return code;
        }
        match folder.map_or(Ok(()), |folder| folder.finish(&note(work, Some(&report)), &report.to_json())) {
            Ok(()) => report.exit_code(self.fail_on),
            Err(error) => {
                bad_input(format!("{error}\nhint: what was printed stands; the run folder is not complete"))
            }
        }
    }

    /// The ids of all plans: those that are built in, and those of the user's files, also if they did not run.
    fn known_plans(&self, work: &Work) -> BTreeSet<String> {
        let of = |sources: &[Source]| {
            let all = Selection { sources, dialects: &Dialect::ALL, filter: None, seed: self.seed };
            library::load(&all).unwrap_or_default()
        };
        let files: Vec<Source> = work.arguments.scenarios.iter().map(|word| Source::of(word)).collect();
        let all = [of(&[]), of(&files)].concat();
        let ran = work.batches.iter().flat_map(|(_, jobs)| jobs);
        ran.chain(&all).map(|job| job.plan.id.to_string()).collect()
    }
}

/// What is written down of a run, at its beginning and at its end.
fn note(work: &Work, report: Option<&Report>) -> RunNote {
    let mut arguments = work.arguments.clone();
    let own = arguments.manifest.iter_mut().chain(&mut arguments.command).chain(&mut arguments.mode);
    let words = arguments.scenarios.iter_mut().chain(&mut arguments.systems).chain(&mut arguments.filter);
    words.chain(own).chain(&mut arguments.sdk_version).for_each(|word| redactor().string(word));
    let cases = report.into_iter().flat_map(|report| &report.cases).map(|case| RunCase {
        system: case.system.clone(),
        plan: case.plan.clone(),
        verdict: case.verdict.clone(),
        folder: case_path(&case.system, &case.plan),
    });
    RunNote {
        kind: folder::KIND.to_owned(),
        schema: folder::SCHEMA,
        brickbat: env!("CARGO_PKG_VERSION").to_owned(),
        arguments,
        finished: report.is_some(),
        cases: cases.collect(),
        timing: report.and_then(|report| report.timing.clone()),
    }
}

/// The profile of each dialect: the one that was given, else the newest.
pub(super) fn profiles(given: &[&'static Profile]) -> Vec<&'static Profile> {
    let of = |dialect| given.iter().copied().find(|profile| profile.dialect == dialect);
    Dialect::ALL.into_iter().map(|dialect| of(dialect).unwrap_or_else(|| Profile::newest(dialect))).collect()
}

/// Colours a word; the stream strips the colour where there is no terminal.
pub(super) fn paint(tone: Tone, word: &str) -> String {
    let code = match tone {
        Tone::Good => "32",
        Tone::Bad => "31;1",
        Tone::Warn => "33",
    };
    format!("\x1b[{code}m{word}\x1b[0m")
}

pub(super) fn dialect(name: &str) -> Result<Dialect, String> {
    let known: Vec<&str> = Dialect::ALL.into_iter().map(Dialect::name).collect();
    Dialect::from_name(name).ok_or_else(|| format!("there is {}", known.join(", ")))
}

pub(super) fn profile(name: &str) -> Result<&'static Profile, String> {
    let known: Vec<&str> = Profile::all().map(|profile| profile.name).collect();
    Profile::named(name).ok_or_else(|| format!("there is {}", known.join(", ")))
}

pub(super) fn harm(word: &str) -> Result<Severity, String> {
    let known: Vec<&str> = Severity::ALL.into_iter().map(Severity::name).collect();
    Severity::threshold(word).ok_or_else(|| format!("there is any, bricked, {}", known.join(", ")))
}

pub(super) fn report_path(word: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(word);
    match ending(&path) {
        Some("json" | "xml") => Ok(path),
        _ => Err("the name ends in .json or .xml".to_owned()),
    }
}

/// Writes a report to files, in the format of the name of each.
pub(super) fn write_reports(paths: &[PathBuf], report: &Report, fail_on: Severity) -> Result<(), u8> {
    paths.iter().try_for_each(|path| {
        let written = match ending(path) {
            Some("xml") => std::fs::write(path, junit::to_xml(report, fail_on)),
            _ => std::fs::write(path, report.to_json()),
        };
        written.map_err(|error| unwritable(path, &error))
    })
}

/// Finds out whether reports can be written.
pub(super) fn all_writable(paths: &[PathBuf]) -> Result<(), u8> {
    paths.iter().try_for_each(|path| writable(path).map_err(|error| unwritable(path, &error)))
}

/// Finds out whether a report can be written, and leaves one that is already there as it is.
fn writable(path: &Path) -> std::io::Result<()> {
    std::fs::OpenOptions::new().create(true).append(true).open(path).map(drop)
}

fn unwritable(path: &Path, error: &std::io::Error) -> u8 {
    bad_input(format!("error: cannot write {}: {error}", path.display()))
}

fn ending(path: &Path) -> Option<&str> {
    path.extension().and_then(|ending| ending.to_str())
}
