//! Runs the state machine over a stream and records the violations.

use super::event::{End, Piece, StreamOffset, excerpt};
use super::{
    BrokenRule, Ended, Machine, Standing, StreamEvent, StreamPosition, StreamReport, StreamRule,
    StreamStrictness, StreamViolation, Warnings,
};
use crate::Severity;

#[derive(Debug)]
pub(crate) struct StreamChecker {
    strictness: StreamStrictness,
    machine: Box<dyn Machine>,
    violations: Vec<StreamViolation>,
    n_events: usize,
    ended: Option<Ended>,
    /// The position of a last event without its terminator.
    unended: Option<(StreamPosition, String)>,
}

impl StreamChecker {
    pub(crate) fn new(strictness: StreamStrictness) -> StreamChecker {
        let machine = (strictness.dialect().definition().machine)();
        StreamChecker { strictness, machine, violations: Vec::new(), n_events: 0, ended: None, unended: None }
    }

    /// Returns whether an illegal event has ended the check.
    pub(crate) fn is_over(&self) -> bool {
        self.ended.is_some()
    }

    pub(crate) fn take(&mut self, mark: StreamOffset, piece: Piece<'_>) {
        if self.is_over() {
            return;
        }
        let place = StreamPosition { event: self.n_events, offset: mark.offset, line: mark.line };
        match piece {
            Piece::Event(event) => self.event(place, &event),
            Piece::Unended(event) => self.unended_event(place, &event),
            Piece::Stray(text) => self.stray(place, text),
            Piece::Unreadable(reason, bytes) => {
                let broken =
                    BrokenRule { rule: self.machine.common().unreadable, message: reason.to_owned() };
                self.illegal(place, broken, excerpt(bytes));
            }
        }
    }

    /// Checks the end of the bytes. `end` is `None` after an illegal event.
    pub(crate) fn finish(mut self, end: Option<End>, n_bytes: usize) -> StreamReport {
        let standing = self.machine.standing();
        if let Some(end) = end
            && !self.is_over()
        {
            let place = StreamPosition { event: self.n_events, offset: end.mark.offset, line: end.mark.line };
            self.ended = Some(match &standing {
                Standing::Underway { missing } => {
                    let inside = if end.inside { " inside an event" } else { "" };
                    let message = format!("the bytes end{inside}: {missing} is missing");
                    self.note_error(self.machine.common().truncated, place, message, String::new());
                    Ended::Truncated
                }
                Standing::Complete => Ended::Complete,
                Standing::Failed(_) => Ended::ErrorEvent,
            });
            if !matches!(standing, Standing::Underway { .. }) {
                self.note_end(place);
            }
        }
        let profile = self.strictness.profile(self.machine.is_foreign());
        let StreamChecker { strictness, violations, n_events, ended, .. } = self;
        let provider_error = match standing {
            Standing::Failed(words) => Some(words),
            _ => None,
        };
        StreamReport {
            dialect: strictness.dialect(),
            profile: profile.map(|profile| profile.name),
            ended: ended.unwrap_or(Ended::Illegal),
            violations,
            provider_error,
            n_events,
            n_bytes,
        }
    }

    fn event(&mut self, place: StreamPosition, event: &StreamEvent<'_>) {
        let mut warnings = self.warnings();
        let verdict = self.machine.step(event, &mut warnings);
        self.n_events += 1;
        for (rule, message) in warnings.noted {
            self.note(rule, place, message, excerpt(event.data));
        }
        if let Err(broken) = verdict {
            self.illegal(place, broken, excerpt(event.data));
        }
    }

    /// The bytes may have been cut after the last event or inside it. The event counts if it can be read.
    fn unended_event(&mut self, place: StreamPosition, event: &StreamEvent<'_>) {
        self.unended = Some((place, excerpt(event.data)));
        let n_violations = self.violations.len();
        self.event(place, event);
        let unreadable = self.machine.common().unreadable;
        if self.violations.last().is_some_and(|violation| violation.rule == unreadable) {
            self.violations.truncate(n_violations);
            self.ended = None;
            self.n_events -= 1;
        }
    }

    fn stray(&mut self, place: StreamPosition, text: &[u8]) {
        match self.machine.stray(text) {
            Ok(true) => self.n_events += 1,
            Ok(false) => {
                if let Some(rule) = self.machine.common().stray {
                    let message = "a line that is neither a field of an event nor a comment; readers skip it";
                    self.note(rule, place, message.to_owned(), excerpt(text));
                }
            }
            Err(broken) => self.illegal(place, broken, excerpt(text)),
        }
    }

    fn note_end(&mut self, place: StreamPosition) {
        let mut warnings = self.warnings();
        self.machine.end(&mut warnings);
        for (rule, message) in warnings.noted {
            self.note(rule, place, message, String::new());
        }
        if let (Some((place, event)), Some(rule)) = (self.unended.take(), self.machine.common().unended) {
            let message = "no blank line follows the last event; readers drop it".to_owned();
            self.note(rule, place, message, event);
        }
    }

    fn illegal(&mut self, place: StreamPosition, broken: BrokenRule, excerpt: String) {
        self.note_error(broken.rule, place, broken.message, excerpt);
        self.ended = Some(Ended::Illegal);
    }

    fn warnings(&self) -> Warnings {
        Warnings::new(self.strictness, self.machine.is_foreign())
    }

    fn note_error(
        &mut self,
        rule: &'static StreamRule,
        place: StreamPosition,
        message: String,
        excerpt: String,
    ) {
        self.violations.push(StreamViolation { place, rule, severity: Severity::Error, message, excerpt });
    }

    /// Records a warning only at the first position of its rule, so that the list stays short.
    fn note(&mut self, rule: &'static StreamRule, place: StreamPosition, message: String, excerpt: String) {
        if !self.violations.iter().any(|violation| violation.rule == rule) {
            let severity = Severity::Warning;
            self.violations.push(StreamViolation { place, rule, severity, message, excerpt });
        }
    }
}
