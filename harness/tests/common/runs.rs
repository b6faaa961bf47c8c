//! Plans of the suite on a system, within bounded time.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it does not expect")]

use std::path::Path;
use std::time::Duration;

use brickbat::cli::library::{self, Selection, Source};
use brickbat_drive::runner::{self, Job, Options, Repeat, System};
use brickbat_report::report::Case;
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::redact::Redactor;

use crate::program::BRICKBAT;

/// A test that hangs fails after this time instead.
const PATIENCE: Duration = Duration::from_secs(300);

/// Plans at once, as many as the command line runs by default.
const N_JOBS: usize = 8;

/// Runs a test with a runtime of its own, within bounded time.
pub fn within_patience<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(PATIENCE, test).await.unwrap() })
}

/// The built-in plans with this prefix in their ids.
pub fn load(prefix: &str) -> Vec<Job> {
    load_source(Source::Prefix(prefix.to_owned()))
}

/// Loads all plans of a scenario file.
pub fn load_file(path: &Path) -> Vec<Job> {
    load_source(Source::File(path.to_owned()))
}

fn load_source(source: Source) -> Vec<Job> {
    let sources = [source];
    library::load(&Selection { sources: &sources, dialects: &Dialect::ALL, filter: None, seed: 0 }).unwrap()
}

/// Runs jobs, and returns the cases in the order of their plans.
pub async fn run(system: &System, jobs: &[Job]) -> Vec<Case> {
    let profiles = Dialect::ALL.map(Profile::newest);
    let redactor = Redactor::default();
    let options = Options {
        profiles: &profiles,
        n_jobs: N_JOBS,
        supervisor: Path::new(BRICKBAT),
        fail_fast: None,
        repeat: Repeat::ONCE,
        shard: None,
        baselines: &[],
        redactor: &redactor,
        keep: None,
        suspected: None,
    };
    let mut cases = runner::run(system, jobs, options, &|_| {}, &|_, _, _| {}).await;
    cases.sort_by(|a, b| a.plan.cmp(&b.plan));
    cases
}
