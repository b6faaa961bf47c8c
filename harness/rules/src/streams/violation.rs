//! A violation of a stream rule and its position.

use std::fmt;

use super::rule::StreamRule;
use crate::Severity;

/// The position of an event in its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamPosition {
    /// The index of the event, from 0. If an event is missing at the end, its index.
    pub event: usize,
    /// The byte at which the event begins, from 0.
    pub offset: usize,
    /// The line on which the event begins, from 1. `None` for binary streams.
    pub line: Option<usize>,
}

impl fmt::Display for StreamPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {}, byte {}", self.event, self.offset)?;
        match self.line {
            Some(line) => write!(f, ", line {line}"),
            None => Ok(()),
        }
    }
}

/// One violation of a rule in a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamViolation {
    /// The position.
    pub place: StreamPosition,
    /// The broken rule.
    pub rule: &'static StreamRule,
    /// How serious it is for the sender of the stream.
    pub severity: Severity,
    /// The difference between what was found and what was expected, on one line.
    pub message: String,
    /// The event as it appears in the stream, cut to one line of at most 200 characters. Empty at the end of
    /// a stream.
    pub excerpt: String,
}

/// Writes two lines, for the violation and its position, and a third with the event if there is one.
impl fmt::Display for StreamViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: {}", self.severity.name(), self.rule.id, self.message)?;
        write!(f, "\n  at {}", self.place)?;
        if self.excerpt.is_empty() { Ok(()) } else { write!(f, "\n  | {}", self.excerpt) }
    }
}

/// A rule that an event breaks, with the details.
#[derive(Debug)]
pub(crate) struct BrokenRule {
    pub(crate) rule: &'static StreamRule,
    pub(crate) message: String,
}

/// The result of checking an event.
pub(crate) type Verdict = Result<(), BrokenRule>;

pub(crate) fn illegal(rule: &'static StreamRule, message: impl Into<String>) -> Verdict {
    Err(BrokenRule { rule, message: message.into() })
}
