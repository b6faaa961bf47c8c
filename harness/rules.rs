//! The strict provider's rules: what a request body must look like to be accepted.
//!
//! [`validate`] answers for any bytes: an empty list means that the provider accepts the body, and the first
//! error of the list is what the provider would answer. Which rules bind, and how hard, is a [`Profile`].
//!
//! The rules judge one body and nothing else. They know no SDK, keep no memory of what the provider said before
//! (so a changed thinking block or signature is out of their sight), and check no authentication, no model name
//! and no sampling parameter. What is not known to be rejected is accepted: unknown keys, unknown block types
//! and unknown models pass, because a false rejection is worse than a miss.

mod anthropic;
mod detect;
mod openai;
mod profile;
mod violation;

use serde::Serialize;
use serde_json::Value;

use crate::dialect::Dialect;
use crate::json::Json;

pub use detect::detect;
pub use profile::{AnthropicSwitches, ModelVersion, OpenaiChatSwitches, Profile, Switches, SystemMessages};
pub use violation::{MAX_VIOLATIONS, Severity, Violation, refusal};

use violation::Breaches;

/// One requirement of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// The stable name, for example `anthropic-messages/tool-result-missing`.
    pub id: &'static str,
    /// The short name that tables and comments use, for example `ANT-TU-1`.
    pub alias: &'static str,
    /// The requirement in one line.
    pub summary: &'static str,
    /// What a breach means, and how to mend the history, for someone who meets the rule for the first time.
    pub why: &'static str,
    /// The HTTP status with which the provider refuses.
    pub status: u16,
    /// How well the rule is known.
    pub confidence: Confidence,
    /// Where the rule was seen: addresses of real occurrences and of the provider's documentation.
    pub sources: &'static [&'static str],
}

/// How well a rule is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// A live probe was published, or the documentation says so and several people met it.
    Measured,
    /// Somebody met it, and quoted the provider's sentence.
    Observed,
    /// Somebody reports it at second hand.
    Secondary,
    /// We conclude it from the provider's other sentences. Nobody was seen to meet it.
    Inferred,
}

impl Rule {
    /// Every rule, dialect by dialect, in the order in which the provider checks.
    pub fn all() -> impl Iterator<Item = &'static Rule> {
        anthropic::RULES.iter().chain(openai::RULES).copied()
    }

    /// The rule of that id (`anthropic-messages/tool-result-missing`) or alias (`ANT-TU-1`).
    pub fn find(id_or_alias: &str) -> Option<&'static Rule> {
        Rule::all().find(|rule| rule.id == id_or_alias || rule.alias == id_or_alias)
    }

    /// The dialect to which the rule belongs.
    pub fn dialect(&self) -> Dialect {
        match self.id.split_once('/') {
            Some(("openai-chat", _)) => Dialect::OpenaiChat,
            _ => Dialect::AnthropicMessages,
        }
    }
}

/// What the provider of this profile has against a request body, in the order in which it checks.
///
/// Any bytes have an answer. The list holds at most [`MAX_VIOLATIONS`] errors and as many warnings.
pub fn validate(profile: &Profile, body: &[u8]) -> Vec<Violation> {
    validate_parsed(profile, body, &Json::parse(body))
}

/// The same as [`validate`] for a body with what became of parsing it.
pub fn validate_parsed(
    profile: &Profile,
    body: &[u8],
    parsed: &Result<Json, serde_json::Error>,
) -> Vec<Violation> {
    match parsed {
        Ok(body) => validate_json(profile, body),
        Err(error) => {
            let mut breaches = Breaches::new(profile);
            match profile.switches {
                Switches::AnthropicMessages(_) => anthropic::refuse_unreadable(body, error, &mut breaches),
                Switches::OpenaiChat(_) => openai::refuse_unreadable(&mut breaches),
            }
            breaches.into_violations()
        }
    }
}

/// The same as [`validate`] for a body that is already a value.
pub fn validate_value(profile: &Profile, body: &Value) -> Vec<Violation> {
    validate_json(profile, &Json::from(body))
}

/// The same as [`validate`] for a body that is already parsed.
pub fn validate_json(profile: &Profile, body: &Json) -> Vec<Violation> {
    let mut breaches = Breaches::new(profile);
    match &profile.switches {
        Switches::AnthropicMessages(switches) => anthropic::check(switches, body, &mut breaches),
        Switches::OpenaiChat(switches) => openai::check(switches, body, &mut breaches),
    }
    breaches.into_violations()
}

/// The name of a JSON type as OpenAI's sentences spell it, with its article.
fn type_with_article(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(number) if number.is_f64() => "a decimal",
        Json::Number(_) => "an integer",
        Json::String(_) => "a string",
        Json::Array(_) => "an array",
        Json::Object(_) => "an object",
    }
}

/// Whether a text is not empty and has only ASCII letters, digits, `_` and `-`.
fn is_plain_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

#[cfg(test)]
mod tests;
