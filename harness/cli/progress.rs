//! Progress of a run: a bar on a terminal, plain lines elsewhere. All of it goes to standard error.

use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::output::tell;
use super::secrets::redactor;
use brickbat_drive::runner::System;
use brickbat_report::report::{Case, text};
use brickbat_scenario::verdict::Verdict;

/// Shows how far a run has come.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    last: Mutex<Last>,
}

/// What was printed last.
struct Last {
    line_at: Instant,
    /// Why a plan could not be judged: a system that does not start gives the same reason for each plan.
    error: Option<String>,
}

/// Without a terminal, one line is printed for so many plans.
const PLANS_PER_LINE: usize = 100;

/// Slow systems get a line at least as often as this.
const LINE_PERIOD: Duration = Duration::from_secs(20);

impl Progress {
    pub(super) fn on(system: &System) -> Progress {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(0).with_style(style("{prefix} [{bar:30}] {pos}/{len} {wide_msg}"));
            bar.with_prefix(redactor().text(&system.name()).into_owned())
        });
        Progress { bar, last: Mutex::new(Last { line_at: Instant::now(), error: None }) }
    }

    /// Reports a long preparation.
    pub(super) fn note(&self, words: &str) {
        match &self.bar {
            Some(bar) => bar.println(redactor().text(words)),
            None => tell(words),
        }
    }

    /// Reports how far something has come whose end is not known.
    pub(super) fn say(&self, words: &str) {
        match &self.bar {
            Some(bar) => {
                bar.set_style(style("{prefix} {wide_msg}"));
                bar.set_message(words.to_owned());
                bar.tick();
            }
            None => self.line(false, words),
        }
    }

    /// Does something, such as printing, while the bar is out of the way.
    pub(super) fn hide(&self, work: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(work),
            None => work(),
        }
    }

    /// Reports that a case is done.
    pub(super) fn case(&self, case: &Case, n_done: usize, n_all: usize) {
        let Some(bar) = &self.bar else {
            let is_due = n_done.is_multiple_of(PLANS_PER_LINE) || n_done == n_all;
            return self.line(is_due, &format!("{}: {n_done} of {n_all} plans", case.system));
        };
        bar.set_length(n_all as u64);
        bar.set_position(n_done as u64);
        bar.set_message(case.plan.clone());
        let mut last = self.last();
        if case.judged == Verdict::HarnessError && last.error != case.reason {
            last.error.clone_from(&case.reason);
            bar.println(text::line(case));
        }
    }

    /// Prints a line if one is due, or if the last one is long ago.
    fn line(&self, is_due: bool, words: &str) {
        let mut last = self.last();
        if is_due || last.line_at.elapsed() >= LINE_PERIOD {
            last.line_at = Instant::now();
            tell(words);
        }
    }

    fn last(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
