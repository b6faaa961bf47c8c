//! What all state machines have in common.

use std::borrow::Cow;
use std::fmt;

use super::event::StreamEvent;
use super::rule::StreamRule;
use super::strictness::StreamStrictness;
use super::violation::{Verdict, illegal};

/// The state of a stream in one grammar: it takes events, and knows whether the stream may end.
pub(crate) trait Machine: fmt::Debug + Send + Sync {
    /// The rules that the reader's findings break.
    fn common(&self) -> &'static Common;

    /// Judges the next event, and moves on if it is legal.
    fn step(&mut self, event: &StreamEvent<'_>, warnings: &mut Warnings) -> Verdict;

    /// Takes lines that are no part of an event. False means that they mean nothing in this grammar.
    fn stray(&mut self, _text: &[u8]) -> Result<bool, super::violation::BrokenRule> {
        Ok(false)
    }

    fn standing(&self) -> Standing;

    /// Whether the stream has said of itself that somebody else than the provider that the dialect is named after made
    /// it.
    fn is_foreign(&self) -> bool {
        false
    }

    /// Says what is odd about a stream that ends here, though it may.
    fn end(&self, _warnings: &mut Warnings) {}
}

/// The rules that every grammar has in some form.
#[derive(Debug)]
pub(crate) struct Common {
    pub(crate) truncated: &'static StreamRule,
    pub(crate) unreadable: &'static StreamRule,
    /// The last event has its end. None where the reader cannot see an event without it.
    pub(crate) unended: Option<&'static StreamRule>,
    /// Every line is a field or a comment. None where there are no lines.
    pub(crate) stray: Option<&'static StreamRule>,
}

/// Where a stream stands between two events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    Underway {
        missing: String,
    },
    /// The stream may end.
    Complete,
    /// The provider has reported an error, in these words.
    Failed(String),
}

pub(crate) fn underway(missing: impl Into<String>) -> Standing {
    Standing::Underway { missing: missing.into() }
}

/// Oddities of the event that is being judged.
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

    /// Takes that the event shows the stream to be foreign, see [`Machine::is_foreign`].
    pub(crate) fn is_of_foreign_stream(&mut self) {
        self.is_foreign = true;
    }

    /// Refuses an event for a rule that not every provider keeps: where it is tolerated, the event is only odd, and the
    /// stream goes on.
    pub(crate) fn refuse(&mut self, rule: &'static StreamRule, message: impl Into<String>) -> Verdict {
        let tolerated = self.strictness.tolerated(self.is_foreign);
        if !tolerated.iter().any(|tolerated| tolerated.id == rule.id) {
            return illegal(rule, message);
        }
        self.add(rule, message);
        Ok(())
    }

    /// Notes an oddity. Of each rule the first one counts; more of one event are not even kept.
    pub(crate) fn add(&mut self, rule: &'static StreamRule, message: impl Into<String>) {
        if !self.noted.iter().any(|(known, _)| known.id == rule.id) {
            self.noted.push((rule, message.into()));
        }
    }
}

/// An error in the provider's words, short.
pub(crate) fn error_in_words(kind: Option<Cow<'_, str>>, message: Option<Cow<'_, str>>) -> String {
    let words = match (kind, message) {
        (Some(kind), Some(message)) => format!("{kind}: {message}"),
        (Some(word), None) | (None, Some(word)) => word.into_owned(),
        (None, None) => "an error without words".to_owned(),
    };
    super::event::excerpt(words.as_bytes())
}
