//! A violation of a rule and where it stands.

use std::fmt;

use super::rule::StreamRule;
use crate::Severity;

/// Where an event begins in its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamPosition {
    /// Which event, from 0. What is missing at the end has the number of the event that should have come.
    pub event: usize,
    /// The byte at which it begins, from 0.
    pub offset: usize,
    /// The line on which it begins, from 1. Binary streams have none.
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
    /// Where.
    pub place: StreamPosition,
    /// The rule that is broken.
    pub rule: &'static StreamRule,
    /// How bad that is for whoever sent the stream.
    pub severity: Severity,
    /// What was found and what was expected, in one line.
    pub message: String,
    /// The event as it stands in the stream, cut to one line of at most 200 characters. Empty at the end of a stream.
    pub excerpt: String,
}

/// Two lines, or three where there is an event to show: what, where, and the event.
impl fmt::Display for StreamViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: {}", self.severity.name(), self.rule.id, self.message)?;
        write!(f, "\n  at {}", self.place)?;
        if self.excerpt.is_empty() { Ok(()) } else { write!(f, "\n  | {}", self.excerpt) }
    }
}

/// A rule that an event breaks, and in which way.
#[derive(Debug)]
pub(crate) struct BrokenRule {
    pub(crate) rule: &'static StreamRule,
    pub(crate) message: String,
}

/// What a machine says of an event.
pub(crate) type Verdict = Result<(), BrokenRule>;

pub(crate) fn illegal(rule: &'static StreamRule, message: impl Into<String>) -> Verdict {
    Err(BrokenRule { rule, message: message.into() })
}
