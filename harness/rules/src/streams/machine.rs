//! Common parts of all state machines.

use std::borrow::Cow;
use std::fmt;

use super::event::StreamEvent;
use super::rule::StreamRule;
use super::strictness::StreamStrictness;
use super::violation::{Verdict, illegal};

/// The state of a stream in one grammar. It takes events, and decides whether the stream may end.
pub(crate) trait Machine: fmt::Debug + Send + Sync {
    /// Returns the rules that the reader's findings break.
    fn common(&self) -> &'static Common;

    /// Checks the next event, and changes the state if the event is legal.
    fn step(&mut self, event: &StreamEvent<'_>, warnings: &mut Warnings) -> Verdict;

    /// Takes lines that do not belong to an event. Returns false if they mean nothing in this grammar.
    fn stray(&mut self, _text: &[u8]) -> Result<bool, super::violation::BrokenRule> {
        Ok(false)
    }

    fn standing(&self) -> Standing;

    /// Returns whether the stream shows that it comes from a provider other than the dialect's own.
    fn is_foreign(&self) -> bool {
        false
    }

    /// Adds warnings about a stream that ends here legally.
    fn end(&self, _warnings: &mut Warnings) {}
}

/// Rules that every grammar has.
#[derive(Debug)]
pub(crate) struct Common {
    pub(crate) truncated: &'static StreamRule,
    pub(crate) unreadable: &'static StreamRule,
    /// The last event must have a terminator. `None` if the reader cannot recognize an event without it.
    pub(crate) unended: Option<&'static StreamRule>,
    /// Every line must be a field or a comment. `None` if there are no lines.
    pub(crate) stray: Option<&'static StreamRule>,
}

/// The state of a stream between two events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    Underway {
        missing: String,
    },
    /// The stream may end.
    Complete,
    /// The provider has reported this error.
    Failed(String),
}

pub(crate) fn underway(missing: impl Into<String>) -> Standing {
    Standing::Underway { missing: missing.into() }
}

/// Warnings about the current event.
#[derive(Debug)]
pub(crate) struct Warnings {
    pub(crate) noted: Vec<(&'static StreamRule, String)>,
    strictness: StreamStrictness,
    is_foreign: bool,
}

impl Warnings {
    pub(crate) fn new(strictness: StreamStrictness, is_foreign: bool) -> Warnings {
        Warnings { noted: Vec::new(), strictness, is_foreign }
    }

    /// Records that the stream comes from another provider; see [`Machine::is_foreign`].
    pub(crate) fn is_of_foreign_stream(&mut self) {
        self.is_foreign = true;
    }

    /// Rejects an event because of a rule that some providers break. If the rule is tolerated, adds a
    /// warning instead, and the stream continues.
    pub(crate) fn refuse(&mut self, rule: &'static StreamRule, message: impl Into<String>) -> Verdict {
        if self.strictness.gives_up(self.is_foreign, rule) {
            return Ok(());
        }
        let tolerated = self.strictness.tolerated(self.is_foreign);
        if !tolerated.iter().any(|tolerated| tolerated.id == rule.id) {
            return illegal(rule, message);
        }
        self.add(rule, message);
        Ok(())
    }

    /// Adds a warning. For each rule, only the first one about an event is kept.
    pub(crate) fn add(&mut self, rule: &'static StreamRule, message: impl Into<String>) {
        if !self.noted.iter().any(|(known, _)| known.id == rule.id) {
            self.noted.push((rule, message.into()));
        }
    }
}

/// Formats a provider's error as a short text.
pub(crate) fn error_in_words(kind: Option<Cow<'_, str>>, message: Option<Cow<'_, str>>) -> String {
    let words = match (kind, message) {
        (Some(kind), Some(message)) => format!("{kind}: {message}"),
        (Some(word), None) | (None, Some(word)) => word.into_owned(),
        (None, None) => "an error without words".to_owned(),
    };
    super::event::excerpt(words.as_bytes())
}
