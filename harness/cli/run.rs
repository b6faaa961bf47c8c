//! `brickbat run`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use clap::Args;

use super::baseline::{BaselineOptions, PendingBaseline};
use super::error::{CliError, Outcome};
use super::explore::{Exploration, ExploreOptions};
use super::interrupt::until_interrupted;
use super::launch::{Launch, block_on};
use super::library::{self, Selection, Source};
use super::options::{
    self, ConfirmOptions, FailOnOptions, JobOptions, PlanOptions, ProviderOptions, SystemOptions,
};
use super::output::{paint, print};
use super::progress::Progress;
use super::reports::ReportOptions;
use super::secrets::redactor;
use super::work::{self, Work};
use brickbat_drive::folder::{self, RunArguments, RunCase, RunFolder, RunNote, case_path};
use brickbat_drive::runner::{self, Job, Keep, Options, System};
use brickbat_report::baseline::Baseline;
use brickbat_report::record::Record;
use brickbat_report::report::{Case, Report, Shard, Timing, text};
use brickbat_rules::dialect::Dialect;
use brickbat_rules::redact::Redactor;

/// Run scenarios on systems and judge what the systems do.
#[derive(Args)]
#[command(after_help = EXAMPLES, mut_arg("systems", |arg| arg.help(SYSTEM_HELP)))]
pub(super) struct Run {
    #[command(flatten)]
    plans: PlanOptions,
    #[command(flatten)]
    system: SystemOptions,
    #[command(flatten)]
    provider: ProviderOptions,
    /// The model that systems are asked to use, such as `claude-opus-4-6`. By default each asks the model that its adapter
    /// takes, and a later one where the provider would refuse that what it took.
    #[arg(long, value_name = "NAME", value_parser = options::model, conflicts_with = "explore")]
    model: Option<String>,
    /// Print the ids of the plans and run nothing.
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    threshold: FailOnOptions,
    #[command(flatten)]
    baseline: BaselineOptions,
    /// Stop at the first plan that makes the run red.
    #[arg(long)]
    fail_fast: bool,
    #[command(flatten)]
    concurrency: JobOptions,
    /// How often each plan runs; a case whose runs differ is reported with how often it came out that way.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    repeat: u16,
    #[command(flatten)]
    confirm: ConfirmOptions,
    #[command(flatten)]
    report: ReportOptions,
    /// Run only this part of the plans, such as `2/4` for the second of four; `brickbat merge` joins the JSON reports of
    /// all parts. The part that a plan belongs to depends only on its id.
    #[arg(long, value_name = "I/N", value_parser = Shard::parse)]
    shard: Option<Shard>,
    /// Keep a record of each case in this directory: trace, requests and responses, receipts, ledger, the adapter's
    /// standard error and the verdict. `brickbat show` reads it. With --explore, the directory gets a scenario for each
    /// distinct failure instead.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Run the failed, unjudged and unreached cases of an earlier run again, with the same systems, profiles and seed.
    /// DIR is its --out directory.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["scenarios", "systems", "dialects", "profiles", "model", "filter", "seed", "shard"]
    )]
    rerun_failed: Option<PathBuf>,
    #[command(flatten)]
    explore: ExploreOptions,
}

/// The help of `--system`, which other commands take once.
const SYSTEM_HELP: &str = "A system to run on, such as `ai-sdk@6/ui-messages`; the reference agent by default. With \
     --manifest, a name in it. May be repeated";

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
  brickbat run abort/ --system ai-sdk@6/ui-messages --dialect openai-chat --baseline

Exit codes: 0 as expected, 1 findings, 2 usage or bad input, 3 could not judge, 4 the reference agent failed.";

impl Run {
    pub(super) fn execute(&self) -> Outcome {
        if self.explore.is_asked() {
            return self.exploration().run();
        }
        if self.list && self.rerun_failed.is_none() {
            list(&work::plans(&self.arguments())?.0, self.shard);
            return Ok(0);
        }
        let work = match &self.rerun_failed {
            Some(folder) => Work::again(folder)?,
            None => Work::of(self.arguments())?,
        };
        if work.batches.is_empty() {
            print("nothing to run again: every case passed, or was unreachable or unsupported\n");
            return Ok(0);
        }
        if self.list {
            work.batches.iter().for_each(|(_, jobs)| list(jobs, work.arguments.shard));
            return Ok(0);
        }
        self.report.check_writable()?;
        let systems: Vec<&System> = work.batches.iter().map(|(system, _)| system).collect();
        let baselines = self.baseline.load(&systems)?;
        let pending = self.baseline.pending()?;
        let folder = self.folder(&work)?;
        let report = self.run(&work, folder.as_ref(), &baselines)?;
        self.conclude(&work, folder.as_ref(), pending, &report)
    }

    /// What is to be run, in the words of the user.
    fn arguments(&self) -> RunArguments {
        let SystemOptions { systems, manifest, command, mode, sdk_version, patience } = self.system.clone();
        RunArguments {
            scenarios: self.plans.scenarios.clone(),
            systems,
            manifest: manifest.map(|path| path.to_string_lossy().into_owned()),
            command,
            mode,
            sdk_version,
            model: self.model.clone(),
            patience: Some(patience).filter(|factor| *factor != 1.0),
            dialects: self.provider.dialects().iter().map(|dialect| dialect.name().to_owned()).collect(),
            profiles: self.provider.profiles().iter().map(|profile| profile.name.to_owned()).collect(),
            filter: self.plans.filter.clone(),
            seed: self.plans.seed,
            shard: self.shard,
        }
    }

    fn exploration(&self) -> Exploration<'_> {
        Exploration {
            options: &self.explore,
            system: &self.system,
            provider: &self.provider,
            seed: self.plans.seed,
            fail_on: self.threshold.fail_on,
            n_jobs: self.concurrency.jobs,
            repeat: self.confirm.repeat(self.repeat),
            out: self.out.as_deref(),
        }
    }

    /// The run folder, if there is to be one.
    fn folder(&self, work: &Work) -> Result<Option<RunFolder>, CliError> {
        let Some(path) = &self.out else { return Ok(None) };
        let is_same = |other: &PathBuf| {
            path.canonicalize().ok().is_some_and(|path| other.canonicalize().ok() == Some(path))
        };
        if self.rerun_failed.as_ref().is_some_and(is_same) {
            let words = "--out is the directory that is run again\nhint: choose another one";
            return Err(CliError::input(words));
        }
        Ok(Some(RunFolder::create(path, &note(work, None))?))
    }

    /// Runs everything, and reports what was done if the user interrupts it.
    fn run(
        &self,
        work: &Work,
        folder: Option<&RunFolder>,
        baselines: &[Baseline],
    ) -> Result<Report, CliError> {
        let started = Instant::now();
        let launch = Launch::new(work.profiles.clone())?;
        let keep = |record: &Record, redactor: &Redactor| {
            if let Some(folder) = folder {
                folder.keep(record, redactor);
            }
        };
        let shard = work.arguments.shard;
        let options = Options {
            fail_fast: self.fail_fast.then_some(self.threshold.fail_on),
            repeat: self.confirm.repeat(self.repeat),
            shard,
            baselines,
            keep: folder.map(|_| Keep(&keep)),
            ..launch.options(self.concurrency.jobs)
        };
        // Cases that are done stay, whatever becomes of the others.
        let done = Mutex::new(Vec::new());
        let run = async {
            let mut cases = Vec::new();
            for (system, jobs) in &work.batches {
                let progress = Progress::on(system);
                let on_case = |case: &Case, n_done, n_all| {
                    done.lock().unwrap_or_else(PoisonError::into_inner).push(case.clone());
                    progress.case(case, n_done, n_all);
                };
                let note = |words: &str| progress.note(words);
                cases.extend(runner::run(system, jobs, options, &note, &on_case).await);
                let is_red = |severity| cases.iter().any(|case| runner::is_red(case, severity));
                if options.fail_fast.is_some_and(is_red) {
                    break;
                }
            }
            cases
        };
        let cases = block_on(until_interrupted(run))?.unwrap_or_else(|| {
            let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
            runner::with_not_reached(&work.batches, &work.profiles, shard, done)
        });
        let report = Report::new(work.arguments.seed, work.arguments.profiles.clone(), cases);
        let mut report = report.held_against(baselines);
        report.shard = shard;
        report.timing = Some(Timing { wall_ms: started.elapsed().as_millis() as u64 });
        report.redact(redactor());
        Ok(report)
    }

    /// Prints the report and writes everything that was asked for.
    fn conclude(
        &self,
        work: &Work,
        folder: Option<&RunFolder>,
        pending: Option<PendingBaseline<'_>>,
        report: &Report,
    ) -> Outcome {
        let fail_on = self.threshold.fail_on;
        print(&text::render(report, fail_on, paint));
        self.report.write(report, fail_on)?;
        if let Some(pending) = pending {
            pending.write(report, &self.known_plans(work))?;
        }
        if let Some(folder) = folder {
            folder.finish(&note(work, Some(report)), &report.to_json()).map_err(|error| {
                CliError::input(format!(
                    "{error}\nhint: the printed report is complete; the run directory is not"
                ))
            })?;
        }
        Ok(report.exit_code(fail_on))
    }

    /// The ids of all plans, those of built-in scenarios and of the user's files, whether they ran or not.
    fn known_plans(&self, work: &Work) -> BTreeSet<String> {
        let of = |sources: &[Source]| {
            let all = Selection { sources, dialects: &Dialect::ALL, filter: None, seed: self.plans.seed };
            library::load(&all).unwrap_or_default()
        };
        let files: Vec<Source> = work.arguments.scenarios.iter().map(|word| Source::of(word)).collect();
        let all = [of(&[]), of(&files)].concat();
        let ran = work.batches.iter().flat_map(|(_, jobs)| jobs);
        ran.chain(&all).map(|job| job.plan.id.to_string()).collect()
    }
}

fn list(jobs: &[Job], shard: Option<Shard>) {
    let ids = jobs.iter().map(|job| job.plan.id.to_string());
    ids.filter(|id| shard.is_none_or(|shard| shard.holds(id))).for_each(|id| print(&format!("{id}\n")));
}

/// The `run.json` of a run, at its beginning and at its end.
fn note(work: &Work, report: Option<&Report>) -> RunNote {
    let mut arguments = work.arguments.clone();
    // Named one by one, so that a new argument is not forgotten here: what a user writes freely may hold a secret.
    let RunArguments {
        scenarios,
        systems,
        manifest,
        command,
        mode,
        sdk_version,
        model,
        dialects: _,
        profiles: _,
        filter,
        patience: _,
        seed: _,
        shard: _,
    } = &mut arguments;
    let own = manifest.iter_mut().chain(command).chain(mode).chain(sdk_version).chain(model).chain(filter);
    scenarios.iter_mut().chain(systems).chain(own).for_each(|word| redactor().string(word));
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
