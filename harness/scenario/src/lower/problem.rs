//! Errors in scenarios that are valid as files.

use crate::action::Refusal;
use crate::parse::suggestion;

/// An error in the content of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// A JSON pointer into the scenario, in the long form of a reply: `/turns/0/replies/0/attempts/0/1/call/tool`.
    pub pointer: String,
    /// The message.
    pub message: String,
    /// Advice on how to correct it.
    pub hint: Option<String>,
}

impl Problem {
    pub(super) fn new(pointer: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem { pointer: pointer.into(), message: message.into(), hint: None }
    }

    /// The problem for something that is not allowed at its position.
    pub(super) fn refused(pointer: impl Into<String>, refusal: Refusal) -> Problem {
        Problem::new(pointer, refusal.message).with_hint(refusal.hint)
    }

    /// The problem for an unknown name; `lead` introduces the known ones.
    pub(super) fn unknown<S: AsRef<str>>(
        pointer: impl Into<String>,
        what: &str,
        name: &str,
        lead: &str,
        known: &[S],
    ) -> Problem {
        Problem::new(pointer, format!("there is no {what} `{name}`"))
            .with_any_hint(suggestion(name, lead, known))
    }

    pub(super) fn with_hint(self, hint: impl Into<String>) -> Problem {
        self.with_any_hint(Some(hint.into()))
    }

    pub(super) fn with_any_hint(mut self, hint: Option<String>) -> Problem {
        self.hint = hint;
        self
    }
}

/// The errors that one check has found.
#[derive(Debug, Default)]
pub(super) struct Problems(Vec<Problem>);

impl Problems {
    pub(super) fn add(&mut self, problem: Problem) {
        self.0.push(problem);
    }

    pub(super) fn add_if(&mut self, wrong: bool, problem: impl FnOnce() -> Problem) {
        if wrong {
            self.0.push(problem());
        }
    }

    pub(super) fn first(self) -> Option<Problem> {
        self.0.into_iter().next()
    }
}
