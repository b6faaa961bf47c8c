//! Progress of a run. Each new cause is printed to standard output as it is found. The progress goes to
//! standard error, as a bar on a terminal and as plain lines elsewhere.

use std::collections::BTreeMap;
use std::fmt;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::output::{paint, print, tell};
use super::secrets::redactor;
use super::terminal::room;
use brickbat_drive::runner::System;
use brickbat_engine::triage::Signature;
use brickbat_report::report::text::{Tone, counted};
use brickbat_report::report::{Case, text};
use brickbat_scenario::verdict::{Finding, Severity, Verdict};

/// Shows the progress of a run.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    state: Mutex<State>,
    causes: Option<Arc<Mutex<FoundCauses>>>,
}

/// The counts so far, and the last output.
struct State {
    began: Instant,
    line_at: Instant,
    /// The last reason why a plan could not be judged. A system that does not start gives the same reason for
    /// each plan, so it is printed once.
    error: Option<String>,
    n_done: usize,
    n_apart: usize,
    n_judged: usize,
    n_failed: usize,
    is_counting: bool,
}

/// The causes that a run has found so far, on all its systems.
pub(super) struct FoundCauses {
    /// Each cause with its system, and whether a second run has confirmed it.
    known: BTreeMap<(String, Signature), bool>,
    fail_on: Severity,
}

/// Without a terminal, one line is printed per this many plans.
const PLANS_PER_LINE: usize = 100;

/// The maximum time between two lines, for slow systems.
const LINE_PERIOD: Duration = Duration::from_secs(20);

/// The interval at which the time on the bar is updated.
const TICK: Duration = Duration::from_millis(500);

/// The standing of a cause when it is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// Its plan has failed once, and runs again.
    Seen,
    /// It counts.
    Confirmed,
}

impl Found {
    fn word(self) -> &'static str {
        match self {
            Found::Seen => "seen",
            Found::Confirmed => "found",
        }
    }
}

impl State {
    fn new() -> State {
        let now = Instant::now();
        State {
            began: now,
            line_at: now,
            error: None,
            n_done: 0,
            n_apart: 0,
            n_judged: 0,
            n_failed: 0,
            is_counting: false,
        }
    }

    /// The progress as text, the causes first: the end of the line may be cut off. A plan that could not be judged is
    /// done, and not judged.
    fn words(&self, n_all: usize, causes: CauseCount) -> String {
        let n_unjudged = self.n_done.saturating_sub(self.n_judged);
        let unjudged = if n_unjudged == 0 { String::new() } else { format!(", {n_unjudged} not judged") };
        let (judged, failed) = (self.n_judged, self.n_failed);
        format!("{causes}; {judged} of {n_all} judged, {failed} failed{unjudged}")
    }
}

/// The number of causes of one system.
#[derive(Debug, Clone, Copy, Default)]
struct CauseCount {
    n_seen: usize,
    n_confirmed: usize,
}

impl fmt::Display for CauseCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&counted(self.n_seen, "cause"))?;
        if self.n_confirmed < self.n_seen {
            write!(f, " seen, {} confirmed", self.n_confirmed)?;
        }
        Ok(())
    }
}

impl FoundCauses {
    pub(super) fn new(fail_on: Severity) -> FoundCauses {
        FoundCauses { known: BTreeMap::new(), fail_on }
    }

    /// One line for each finding of a case with a new cause.
    fn lines(&mut self, case: &Case, state: Found) -> String {
        let mut text = String::new();
        for finding in case.counted() {
            let key = (case.system.clone(), Signature::of(finding));
            let known = self.known.insert(key.clone(), state == Found::Confirmed);
            match known {
                None => text.push_str(&self.line(case, finding, state.word())),
                Some(true) => drop(self.known.insert(key, true)),
                Some(false) => {}
            }
        }
        text
    }

    fn count(&self, of: &str) -> CauseCount {
        let own = || self.known.iter().filter(|((system, _), _)| system == of);
        CauseCount { n_seen: own().count(), n_confirmed: own().filter(|(_, confirmed)| **confirmed).count() }
    }

    fn line(&self, case: &Case, finding: &Finding, state: &str) -> String {
        let tone = if finding.severity <= self.fail_on { Tone::Bad } else { Tone::Warn };
        let name = finding.severity.name();
        let words = format!("{}: {}", case.plan, finding.message);
        let room = room().saturating_sub(state.len() + name.len() + 4);
        format!("{state}: {}  {}\n", paint(tone, name), text::in_one_line(&words, room))
    }
}

impl Progress {
    pub(super) fn on(system: &System) -> Progress {
        let bar = std::io::stderr().is_terminal().then(|| {
            // A spinner until the number of plans is known.
            let bar = ProgressBar::new_spinner().with_style(style("{prefix} {elapsed} {wide_msg}"));
            bar.enable_steady_tick(TICK);
            bar.with_prefix(redactor().text(&system.name()).into_owned())
        });
        Progress { bar, state: Mutex::new(State::new()), causes: None }
    }

    /// Shows nothing.
    pub(super) fn silent() -> Progress {
        Progress { bar: Some(ProgressBar::hidden()), state: Mutex::new(State::new()), causes: None }
    }

    /// Also prints each new cause.
    pub(super) fn with_causes(mut self, causes: Arc<Mutex<FoundCauses>>) -> Progress {
        self.causes = Some(causes);
        self
    }

    /// Reports a long preparation.
    pub(super) fn note(&self, words: &str) {
        match &self.bar {
            Some(bar) => bar.println(redactor().text(words)),
            None => tell(words),
        }
    }

    /// Reports the progress of work of unknown length.
    pub(super) fn say(&self, words: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(words.to_owned()),
            None => {
                let mut state = self.state();
                line(&mut state, false, words);
            }
        }
    }

    /// Hides the bar while it runs some work, such as printing.
    pub(super) fn hide(&self, work: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(work),
            None => work(),
        }
    }

    /// Reports that a case is done. Unsupported plans do not count as progress.
    pub(super) fn case(&self, case: &Case, n_done: usize, n_all: usize) {
        let causes = self.found(case, Found::Confirmed);
        let mut state = self.state();
        state.n_failed += usize::from(case.worst_counted().is_some());
        if case.verdict == Verdict::Unsupported {
            state.n_apart += 1;
            return;
        }
        state.n_done = n_done - state.n_apart;
        state.n_judged += usize::from(!case.verdict.is_unjudged());
        let n_all = n_all - state.n_apart;
        let words = state.words(n_all, causes);
        let Some(bar) = &self.bar else {
            let is_due = state.n_done.is_multiple_of(PLANS_PER_LINE) || state.n_done == n_all;
            let words = format!("{}: {words}, {} s", case.system, state.began.elapsed().as_secs());
            return line(&mut state, is_due, &words);
        };
        if !std::mem::replace(&mut state.is_counting, true) {
            bar.set_style(style("{prefix} {elapsed} [{bar:20}] {wide_msg}"));
        }
        bar.set_length(n_all as u64);
        bar.set_position(state.n_done as u64);
        bar.set_message(words);
        if case.verdict == Verdict::HarnessError && state.error != case.reason {
            state.error.clone_from(&case.reason);
            bar.println(text::line(case));
        }
    }

    /// Reports a case that has failed once, and runs again before it counts.
    pub(super) fn suspected(&self, case: &Case) {
        self.found(case, Found::Seen);
    }

    /// Prints the causes that occur first in this case, and returns the number of causes so far.
    fn found(&self, case: &Case, state: Found) -> CauseCount {
        let Some(causes) = &self.causes else { return CauseCount::default() };
        let mut causes = causes.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = causes.lines(case, state);
        if !lines.is_empty() {
            self.hide(|| print(&lines));
        }
        causes.count(&case.system)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Prints a line if one is due, or if the last one was long ago.
fn line(state: &mut State, is_due: bool, words: &str) {
    if is_due || state.line_at.elapsed() >= LINE_PERIOD {
        state.line_at = Instant::now();
        tell(words);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_that_was_not_run_is_not_counted_as_judged() {
        let state = State { n_done: 2, ..State::new() };
        let of = |n_seen, n_confirmed| CauseCount { n_seen, n_confirmed };
        assert_eq!(state.words(2, of(0, 0)), "0 causes; 0 of 2 judged, 0 failed, 2 not judged");
        let state = State { n_done: 3, n_judged: 3, n_failed: 1, ..State::new() };
        assert_eq!(state.words(9, of(1, 1)), "1 cause; 3 of 9 judged, 1 failed");
        assert_eq!(state.words(9, of(5, 1)), "5 causes seen, 1 confirmed; 3 of 9 judged, 1 failed");
    }
}
