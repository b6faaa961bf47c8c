//! A violation of a rule, its message, and the bounded list of violations.

use hashbrown::HashMap;
use std::fmt::Display;

use serde_json::{Value, json};

use crate::envelope::Envelope;
use crate::{Profile, Rule, Severity};

/// Maximum number of errors, and of warnings, reported for one body.
///
/// A provider reports one error. A broken session has a handful, and more than a thousand would only make
/// a report unreadable. A hostile body could have millions.
pub const MAX_VIOLATIONS: usize = 1000;

/// A violation of a rule in a request body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The broken rule.
    pub rule: &'static Rule,
    /// An error if the provider rejects the request, otherwise a warning.
    pub severity: Severity,
    /// The JSON pointer to the location in the body. It always resolves: a missing field is reported at its
    /// parent.
    pub pointer: String,
    /// The provider's own message. The wording changes over the years, so do not compare messages.
    pub message: String,
    /// `error.param` in OpenAI's envelope.
    pub param: Option<String>,
    /// `error.code` in OpenAI's envelope, `code` in Mistral's, `type` in Mistral's details.
    pub code: Option<&'static str>,
    /// The error body around the message.
    pub envelope: Envelope,
}

impl Violation {
    /// Returns the HTTP status of the rejection.
    pub fn status(&self) -> u16 {
        self.rule.status
    }

    /// Returns the error body that the provider sends.
    pub fn envelope(&self, request_id: &str) -> Value {
        match self.envelope {
            Envelope::Anthropic => json!({
                "type": "error",
                "error": { "type": anthropic_type(self.status()), "message": self.message },
                "request_id": request_id,
            }),
            Envelope::Openai => json!({
                "error": {
                    "message": self.message,
                    "type": "invalid_request_error",
                    "param": self.param,
                    "code": self.code,
                },
            }),
            Envelope::Relative(envelope) => envelope.wrap(&self.message, request_id),
            Envelope::Mistral if self.status() == 422 => {
                let steps = self.pointer.split('/').skip(1);
                let step =
                    |step: &str| step.parse::<usize>().map_or_else(|_| json!(step), |index| json!(index));
                let place: Vec<Value> = std::iter::once(json!("body")).chain(steps.map(step)).collect();
                json!({ "detail": [{ "type": self.code, "loc": place, "msg": self.message }] })
            }
            Envelope::Mistral => json!({
                "object": "error",
                "message": self.message,
                "type": mistral_type(self.code),
                "param": null,
                "code": self.code,
            }),
            Envelope::Aws => json!({ "message": self.message }),
            Envelope::Google => json!({
                "error": { "code": self.status(), "message": self.message, "status": "INVALID_ARGUMENT" },
            }),
        }
    }
}

/// Returns the type for a status in Anthropic's errors (<https://platform.claude.com/docs/en/api/errors>).
fn anthropic_type(status: u16) -> &'static str {
    match status {
        413 => "request_too_large",
        _ => "invalid_request_error",
    }
}

/// Returns the type for a code in Mistral's errors. `3280` was seen in
/// <https://github.com/zed-industries/zed/issues/53034>. Errors without a code had the last type.
fn mistral_type(code: Option<&str>) -> &'static str {
    match code {
        Some("3230") => "invalid_request_message_order",
        Some("3280") => "invalid_function_call",
        _ => "invalid_request_error",
    }
}

/// Returns the first error in a list, which is the one that the provider would report. `None` means that
/// it accepts the body.
pub fn refusal(violations: &[Violation]) -> Option<&Violation> {
    violations.iter().find(|violation| violation.severity == Severity::Error)
}

/// The location of a violation, and the parts of its message.
#[derive(Debug)]
pub(crate) struct Occurrence {
    pointer: String,
    form: usize,
    /// The values of the placeholders in the error message.
    words: Vec<(&'static str, String)>,
    param: Option<String>,
    code: Option<&'static str>,
}

impl Occurrence {
    /// Creates an occurrence at a JSON pointer, with the first error message of the rule.
    pub(crate) fn at(pointer: impl Into<String>) -> Occurrence {
        Occurrence { pointer: pointer.into(), form: 0, words: Vec::new(), param: None, code: None }
    }

    /// Selects another error message of the rule.
    pub(crate) fn form(self, form: usize) -> Occurrence {
        Occurrence { form, ..self }
    }

    /// Sets the value of a placeholder in the error message.
    pub(crate) fn with(mut self, name: &'static str, word: impl Display) -> Occurrence {
        self.words.push((name, word.to_string()));
        self
    }

    /// Sets OpenAI's `param`.
    pub(crate) fn param(self, param: String) -> Occurrence {
        Occurrence { param: Some(param), ..self }
    }

    /// Sets the `code`; see [`Violation::code`].
    pub(crate) fn code(self, code: &'static str) -> Occurrence {
        Occurrence { code: Some(code), ..self }
    }

    /// Returns the error message with every placeholder replaced.
    fn sentence(&self, sentences: &[&str]) -> String {
        let template = sentences.get(self.form).or(sentences.first()).copied().unwrap_or_default();
        let mut sentence = String::with_capacity(template.len() + 32);
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            sentence.push_str(before);
            let word = after.split_once('}').and_then(|(name, after)| {
                let (_, word) = self.words.iter().find(|(own, _)| *own == name)?;
                Some((word, after))
            });
            rest = match word {
                Some((word, after)) => {
                    sentence.push_str(word);
                    after
                }
                // The brace is part of the error message.
                None => {
                    sentence.push('{');
                    after
                }
            };
        }
        sentence.push_str(rest);
        sentence
    }
}

/// The violations so far, up to the maximum.
#[derive(Debug)]
pub(crate) struct Violations {
    profile: &'static Profile,
    violations: Vec<Violation>,
    /// The number for each severity and phase.
    counts: HashMap<(Severity, u8), usize>,
}

impl Violations {
    pub(crate) fn new(profile: &'static Profile) -> Self {
        Violations { profile, violations: Vec::new(), counts: HashMap::new() }
    }

    /// Adds a violation with the severity that the profile gives to the rule. The error message is built
    /// only if there is room.
    pub(crate) fn add(&mut self, rule: &'static Rule, occurrence: impl FnOnce() -> Occurrence) {
        if let Some(severity) = self.profile.severity(rule)
            && self.has_room(rule, severity)
        {
            self.push(rule, severity, occurrence());
        }
    }

    /// Adds a violation at most as a warning, because this exact form is contested.
    pub(crate) fn warn(&mut self, rule: &'static Rule, occurrence: impl FnOnce() -> Occurrence) {
        if self.profile.severity(rule).is_some() && self.has_room(rule, Severity::Warning) {
            self.push(rule, Severity::Warning, occurrence());
        }
    }

    /// Errors and warnings have separate limits, so that many warnings cannot hide a rejection. So do the
    /// phases, because the violation that the provider reports first may be found last.
    fn has_room(&mut self, rule: &Rule, severity: Severity) -> bool {
        let count = self.counts.entry((severity, rule.phase)).or_default();
        *count += 1;
        *count <= MAX_VIOLATIONS
    }

    fn push(&mut self, rule: &'static Rule, severity: Severity, occurrence: Occurrence) {
        let message = occurrence.sentence(self.profile.sentences(rule));
        let Occurrence { pointer, param, code, .. } = occurrence;
        let envelope = self.profile.envelope;
        self.violations.push(Violation { rule, severity, pointer, message, param, code, envelope });
    }

    /// Removes the violations of rules that compare with earlier messages, because a later part of the request
    /// shows that the provider has those messages.
    pub(crate) fn withdraw_looking_back(&mut self) {
        self.violations.retain(|violation| !violation.rule.looks_back);
    }

    /// Returns the violations in the order in which the provider checks.
    pub(crate) fn into_violations(self) -> Vec<Violation> {
        let mut violations = self.violations;
        violations.sort_by_key(|violation| violation.rule.phase);
        let mut left = [MAX_VIOLATIONS; 2];
        violations.retain(|violation| {
            let left = &mut left[usize::from(violation.severity == Severity::Error)];
            let fits = *left > 0;
            *left = left.saturating_sub(1);
            fits
        });
        violations
    }
}
