//! Runs the plans of a run, system by system, and keeps the cases however the run ends.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::super::error::CliError;
use super::super::interrupt::until_interrupted;
use super::super::launch::{block_on, cannot_start};
use super::super::progress::Progress;
use super::super::work::Work;
use super::gathered::Gathered;
use brickbat_drive::runner::{self, Job, Options, Started, Suspected, System};
use brickbat_report::report::Case;

/// A run of plans that has not ended.
pub(super) struct Play<'a> {
    pub(super) work: &'a Work,
    pub(super) options: Options<'a>,
    /// Shows the progress on a system.
    pub(super) progress: &'a (dyn Fn(&System) -> Progress + Sync),
    pub(super) gathered: Mutex<Gathered>,
}

/// A run that has ended, with a case for each plan.
pub(super) struct Played {
    pub(super) cases: Vec<Case>,
    /// The reason why it ended early, if it did.
    pub(super) stopped: Option<&'static str>,
}

/// How the work on the plans ended.
enum End {
    Complete,
    Early(&'static str),
}

impl Play<'_> {
    /// Runs the plans until all are done, the time is over, or the user interrupts the run.
    ///
    /// # Errors
    ///
    /// None of the systems can be started.
    pub(super) fn run(self, limit: Option<Duration>) -> Result<Played, CliError> {
        let end = block_on(self.until(limit))?;
        let Play { work, options, gathered, .. } = self;
        let mut gathered = gathered.into_inner().unwrap_or_else(PoisonError::into_inner);
        if !gathered.unstarted.is_empty() && gathered.unstarted.len() == work.batches.len() {
            return Err(match gathered.unstarted.len() {
                1 => gathered.unstarted.remove(0),
                _ => CliError::input("none of the systems can be started"),
            });
        }
        Ok(match end {
            End::Complete => Played { cases: gathered.done, stopped: None },
            End::Early(why) => {
                let (profiles, known) = (&work.chosen.profiles, gathered.known());
                let cases = runner::with_not_reached(&work.batches, profiles, options.shard, known, why);
                Played { cases, stopped: Some(why) }
            }
        })
    }

    async fn until(&self, limit: Option<Duration>) -> End {
        let limited = async {
            match limit {
                Some(time) => {
                    tokio::time::timeout(time, self.on_all()).await.unwrap_or(End::Early("timed out"))
                }
                None => self.on_all().await,
            }
        };
        until_interrupted(limited).await.unwrap_or(End::Early("the run was interrupted"))
    }

    async fn on_all(&self) -> End {
        for (system, jobs) in &self.work.batches {
            self.on(system, jobs).await;
            let is_red = |severity| self.gather().done.iter().any(|case| runner::is_red(case, severity));
            if self.options.fail_fast.is_some_and(is_red) {
                return End::Early("--fail-fast stopped it at the first failing plan");
            }
        }
        End::Complete
    }

    async fn on(&self, system: &System, jobs: &[Job]) {
        let progress = (self.progress)(system);
        let suspected = |case: &Case| {
            self.gather().see(case);
            progress.suspected(case);
        };
        let options = Options { suspected: Some(Suspected(&suspected)), ..self.options };
        let on_case = |case: &Case, n_done, n_all| {
            self.gather().add(case);
            progress.case(case, n_done, n_all);
        };
        let note = |words: &str| progress.note(words);
        match Started::start(system, options.supervisor, &note).await {
            Ok(started) => drop(started.run(jobs, options, &on_case).await),
            Err(error) => {
                let why = cannot_start(system, &error);
                if self.work.batches.len() > 1 {
                    // The other systems can still be judged.
                    why.report();
                    runner::not_run(system, jobs, &error, options, &on_case);
                }
                self.gather().unstarted.push(why);
            }
        }
    }

    fn gather(&self) -> MutexGuard<'_, Gathered> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
