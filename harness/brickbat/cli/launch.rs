//! Shared parts of the commands that run plans: the runtime, the program that guards processes, and the
//! runner's options.

use std::path::{Path, PathBuf};

use super::error::CliError;
use super::output::tell;
use super::secrets::redactor;
use brickbat_drive::driver::{DriverError, Progress};
use brickbat_drive::runner::{Job, OnCase, Options, Repeat, Started, System};
use brickbat_report::report::Case;
use brickbat_rules::Profile;
use brickbat_rules::dialect::Dialect;

/// The id for found scenarios: wire ids must not depend on the name of a file.
pub(super) const FOUND: &str = "found";

/// The program that guards processes, and the provider's strictness in each dialect.
pub(super) struct Launch {
    pub(super) supervisor: PathBuf,
    profiles: Vec<&'static Profile>,
}

impl Launch {
    pub(super) fn new(profiles: Vec<&'static Profile>) -> Result<Launch, CliError> {
        Ok(Launch { supervisor: own_program()?, profiles })
    }

    /// The newest profile of each dialect.
    pub(super) fn newest() -> Result<Launch, CliError> {
        Launch::new(Dialect::ALL.map(Profile::newest).to_vec())
    }

    /// Options that run each plan once and keep no records.
    pub(super) fn options(&self, n_jobs: u16) -> Options<'_> {
        Options {
            profiles: &self.profiles,
            n_jobs: usize::from(n_jobs),
            supervisor: &self.supervisor,
            fail_fast: None,
            repeat: Repeat::ONCE,
            shard: None,
            baselines: &[],
            redactor: redactor(),
            keep: None,
            suspected: None,
        }
    }
}

/// Starts a system.
pub(super) async fn start(system: &System, supervisor: &Path) -> Result<Started, CliError> {
    let note = |words: &str| tell(words);
    let started = Started::start(system, supervisor, &note).await;
    started.map_err(|error| cannot_start(system, &error))
}

/// Starts a system, and runs plans on it.
pub(super) async fn run_on(
    system: &System,
    jobs: &[Job],
    options: Options<'_>,
    note: Progress<'_>,
    on_case: OnCase<'_>,
) -> Result<Vec<Case>, CliError> {
    let started = Started::start(system, options.supervisor, note).await;
    let started = started.map_err(|error| cannot_start(system, &error))?;
    Ok(started.run(jobs, options, on_case).await)
}

/// The error that a system cannot be started: the reason on one line, and the adapter's output below it.
pub(super) fn cannot_start(system: &System, error: &DriverError) -> CliError {
    let (what, stderr) = error.parts();
    let lines: String = stderr.lines().map(|line| format!("\n  | {line}")).collect();
    CliError::input(format!("cannot start {}: {what}{lines}", system.name()))
}

/// Brickbat's own program, which also guards processes.
pub(super) fn own_program() -> Result<PathBuf, CliError> {
    std::env::current_exe()
        .map_err(|error| CliError::start(format!("cannot find brickbat's own program: {error}")))
}

/// Runs something asynchronous to its end.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    Ok(runtime
        .map_err(|error| CliError::start(format!("cannot start the runtime: {error}")))?
        .block_on(future))
}
