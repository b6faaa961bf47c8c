//! A breach of a rule, how the provider would say it, and the bounded list in which breaches are collected.

use serde_json::{Value, json};

use super::{Profile, Rule};
use crate::dialect::Dialect;

/// At most this many errors, and this many warnings, are reported for one body.
///
/// The provider names one. A broken session has a handful; more than a thousand only make a report unreadable,
/// while a hostile body could hold millions.
pub const MAX_VIOLATIONS: usize = 1000;

/// How hard a profile takes a breach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The provider refuses the request.
    Error,
    /// The provider of this profile accepts the request, but others, older ones or stricter ones do not.
    Warning,
}

/// One breach of a rule in a request body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The rule that is broken.
    pub rule: &'static Rule,
    /// Whether the provider refuses.
    pub severity: Severity,
    /// The JSON pointer to the place in the body. It always resolves: a missing field is reported at its parent.
    pub pointer: String,
    /// The provider's own sentence. Its wording changes over the years: never compare on it.
    pub message: String,
    /// `error.param` of OpenAI's envelope.
    pub param: Option<String>,
    /// `error.code` of OpenAI's envelope.
    pub code: Option<&'static str>,
}

impl Violation {
    /// The HTTP status of the refusal.
    pub fn status(&self) -> u16 {
        self.rule.status
    }

    /// The error body that the provider sends.
    pub fn envelope(&self, request_id: &str) -> Value {
        match self.rule.dialect() {
            Dialect::AnthropicMessages => json!({
                "type": "error",
                "error": { "type": "invalid_request_error", "message": self.message },
                "request_id": request_id,
            }),
            Dialect::OpenaiChat => json!({
                "error": {
                    "message": self.message,
                    "type": "invalid_request_error",
                    "param": self.param,
                    "code": self.code,
                },
            }),
        }
    }
}

/// The first error of a list: what the provider would answer. `None` means that it accepts the body.
pub fn refusal(violations: &[Violation]) -> Option<&Violation> {
    violations.iter().find(|violation| violation.severity == Severity::Error)
}

/// Where a rule is broken, and what the provider says about it.
pub(super) struct Breach {
    pointer: String,
    message: String,
    param: Option<String>,
    code: Option<&'static str>,
}

impl Breach {
    /// A breach at a JSON pointer, with the provider's sentence.
    pub(super) fn at(pointer: String, message: String) -> Breach {
        Breach { pointer, message, param: None, code: None }
    }

    /// The same with OpenAI's `param`.
    pub(super) fn param(self, param: String) -> Breach {
        Breach { param: Some(param), ..self }
    }

    /// The same with OpenAI's `code`.
    pub(super) fn code(self, code: &'static str) -> Breach {
        Breach { code: Some(code), ..self }
    }
}

/// The breaches found so far, bounded.
pub(super) struct Breaches<'p> {
    profile: &'p Profile,
    violations: Vec<Violation>,
    n_errors: usize,
    n_warnings: usize,
}

impl<'p> Breaches<'p> {
    pub(super) fn new(profile: &'p Profile) -> Self {
        Breaches { profile, violations: Vec::new(), n_errors: 0, n_warnings: 0 }
    }

    /// Notes a breach, as hard as the profile takes the rule. The sentence is built only if there is room for it.
    pub(super) fn add(&mut self, rule: &'static Rule, breach: impl FnOnce() -> Breach) {
        if let Some(severity) = self.profile.severity(rule) {
            self.note(rule, severity, breach);
        }
    }

    /// Notes a breach as a warning, where the rule is contested for just this form of it.
    pub(super) fn warn(&mut self, rule: &'static Rule, breach: impl FnOnce() -> Breach) {
        self.note(rule, Severity::Warning, breach);
    }

    fn note(&mut self, rule: &'static Rule, severity: Severity, breach: impl FnOnce() -> Breach) {
        // Errors and warnings are counted apart, so that a flood of warnings cannot hide a refusal.
        let count = match severity {
            Severity::Error => &mut self.n_errors,
            Severity::Warning => &mut self.n_warnings,
        };
        if *count >= MAX_VIOLATIONS {
            return;
        }
        *count += 1;
        let Breach { pointer, message, param, code } = breach();
        self.violations.push(Violation { rule, severity, pointer, message, param, code });
    }

    pub(super) fn into_violations(self) -> Vec<Violation> {
        self.violations
    }
}
