//! Progress of a run: a bar on a terminal, plain lines elsewhere. All of it goes to standard error.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::tell;
use brickbat_report::report::{Case, text};
use brickbat_scenario::verdict::Verdict;

/// Shows how far a run has come.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    told: Mutex<Told>,
}

/// What was printed last.
struct Told {
    /// A line of progress.
    line: Instant,
    /// Why a plan could not be judged: a system that does not start says the same of each plan.
    error: Option<String>,
}

/// Without a terminal, one line is printed for so many plans.
const PLANS_PER_LINE: usize = 100;

/// Slow systems get a line at least as often as this.
const LINE_PERIOD: Duration = Duration::from_secs(20);

impl Progress {
    /// Progress of a run on that system.
    pub(super) fn on(system: &str) -> Progress {
        let told = Mutex::new(Told { line: Instant::now(), error: None });
        if !std::io::stderr().is_terminal() {
            return Progress { bar: None, told };
        }
        let style = ProgressStyle::with_template("{prefix} [{bar:30}] {pos}/{len} {wide_msg}");
        let bar = ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_prefix(system.to_owned());
        Progress { bar: Some(bar), told }
    }

    /// Something that takes long before plans run.
    pub(super) fn note(&self, words: &str) {
        match &self.bar {
            Some(bar) => bar.println(words),
            None => tell(words),
        }
    }

    /// How far something has come of which nobody knows how long it takes.
    pub(super) fn say(&self, words: &str) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        match &self.bar {
            Some(bar) => {
                bar.set_style(
                    ProgressStyle::with_template("{prefix} {wide_msg}")
                        .unwrap_or_else(|_| ProgressStyle::default_bar()),
                );
                bar.set_message(words.to_owned());
                bar.tick();
            }
            None if told.line.elapsed() >= LINE_PERIOD => {
                told.line = Instant::now();
                tell(words);
            }
            None => {}
        }
    }

    /// Does something, such as printing, while the bar is out of the way.
    pub(super) fn hide(&self, work: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(work),
            None => work(),
        }
    }

    /// A case is done.
    pub(super) fn case(&self, case: &Case, n_done: usize, n_all: usize) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        match &self.bar {
            Some(bar) => {
                bar.set_length(n_all as u64);
                bar.set_position(n_done as u64);
                bar.set_message(case.plan.clone());
                if case.judged == Verdict::HarnessError && told.error != case.reason {
                    told.error.clone_from(&case.reason);
                    bar.println(text::line(case));
                }
            }
            None => {
                let is_due = told.line.elapsed() >= LINE_PERIOD;
                if n_done.is_multiple_of(PLANS_PER_LINE) || n_done == n_all || is_due {
                    told.line = Instant::now();
                    tell(format!("{}: {n_done} of {n_all} plans", case.system));
                }
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
