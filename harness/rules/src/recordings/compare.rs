//! Compares a recorded exchange with our verdict.

use super::{Exchange, Spoken};
use crate::Dialect;
use crate::json::Document;
use crate::{self as rules, Memory, Profile};

/// Options for comparing recordings.
#[derive(Debug, Clone, Copy, Default)]
pub struct CompareOptions {
    /// The dialect of all requests. By default, it is detected.
    pub dialect: Option<Dialect>,
    /// The profile for requests in its dialect.
    pub profile: Option<&'static Profile>,
}

/// The result of comparing an exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// It was judged by the profile of that name.
    Judged(&'static str, Agreement),
    /// No profile is known for its host in this dialect.
    NoProfile(Dialect),
    /// The request asks for no reply, so it is not judged.
    NoReply,
    /// Its dialect is not supported.
    NotSpoken(String),
    /// Neither its address nor its body identifies the dialect.
    Unclear,
}

/// The agreement between our verdict and the provider's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Agreement {
    /// Both accept the request.
    Accepted,
    /// Both reject it.
    Refused {
        /// The rule.
        rule: &'static str,
    },
    /// We reject a request that the provider accepted: a rule is wrong.
    TooStrict {
        /// The rule.
        rule: &'static str,
        /// The pointer to the violation.
        pointer: String,
        /// Our error message.
        message: String,
    },
    /// We accept a request that the provider rejected: a rule may be missing.
    TooLax,
    /// The provider rejected it for a reason that no rule covers.
    SomethingElse,
}

/// Compares an exchange with the rules.
pub fn compare(exchange: &Exchange, options: &CompareOptions) -> Comparison {
    let dialect = match options.dialect {
        Some(dialect) if !exchange.request.is_empty() => dialect,
        _ => match exchange.spoken() {
            Spoken::Dialect(dialect) => dialect,
            Spoken::Unknown(name) => return Comparison::NotSpoken(name),
            Spoken::NoReply => return Comparison::NoReply,
            Spoken::Unclear => return Comparison::Unclear,
        },
    };
    let given = options.profile.filter(|profile| profile.dialect == dialect);
    match given.or_else(|| profile_of(dialect, exchange)) {
        Some(profile) => Comparison::Judged(profile.name, agreement(exchange, profile)),
        None => Comparison::NoProfile(dialect),
    }
}

/// Returns the profile of the host, or the newest of the dialect if no host is recorded.
fn profile_of(dialect: Dialect, exchange: &Exchange) -> Option<&'static Profile> {
    let model = exchange.model().unwrap_or_default();
    let profile = match exchange.host.as_str() {
        "" => Profile::newest(dialect),
        host => rules::profile_for(dialect, host, &model)?,
    };
    Some(exchange.version.as_deref().map_or(profile, |version| profile.at_version(version)))
}

fn agreement(exchange: &Exchange, profile: &'static Profile) -> Agreement {
    let (body, model) = (&exchange.request, exchange.model());
    let document = Document::parse(body);
    let violations = rules::validate_asking(profile, &Memory::default(), model.as_deref(), body, &document);
    let refusal = rules::refusal(&violations);
    let is_taken = exchange.status < 400;
    match refusal {
        None if is_taken => Agreement::Accepted,
        Some(refusal) if is_taken => Agreement::TooStrict {
            rule: refusal.rule.id,
            pointer: refusal.pointer.clone(),
            message: refusal.message.clone(),
        },
        // If the provider's message matches ours, it is about the history, whatever other words are in it.
        Some(refusal) if says_the_same(&exchange.error, &refusal.message) => {
            Agreement::Refused { rule: refusal.rule.id }
        }
        _ if is_about_something_else(exchange.status, &exchange.error) => Agreement::SomethingElse,
        Some(refusal) => Agreement::Refused { rule: refusal.rule.id },
        None => Agreement::TooLax,
    }
}

/// Returns whether a provider's message is the same as ours. Recordings cut long messages, so the beginning
/// is enough. Gateways put their own text first.
fn says_the_same(error: &str, sentence: &str) -> bool {
    let plain = |text: &str| -> String {
        let is_kept = |c: &char| c.is_alphanumeric();
        text.chars().filter(is_kept).flat_map(char::to_lowercase).collect()
    };
    let (error, sentence) = (plain(error), plain(sentence));
    let end = sentence.char_indices().nth(MIN_SAME_CHARS).map_or(sentence.len(), |(end, _)| end);
    !sentence.is_empty() && error.contains(&sentence[..end])
}

/// Number of equal characters that is enough. It is longer than any path into a request.
const MIN_SAME_CHARS: usize = 40;

/// Words in error messages that concern not the history but the model, its abilities, its output, or the
/// account.
const SOMETHING_ELSE: [&str; 15] = [
    "model identifier",
    "model not found",
    "model does not exist",
    "invalid model",
    "does not support",
    "doesn't support",
    "not supported with",
    // Audio was sent to a model that does not accept it:
    // https://github.com/pydantic/pydantic-ai/tree/main/tests/models/cassettes/test_multimodal_tool_returns
    "expected to be either text or image_url type",
    "unsupported parameter",
    "unrecognized request argument",
    "failed to call a function",
    "tool call validation failed",
    "cannot fetch",
    "credit balance",
    "quota",
];

/// Only these statuses mean that the request itself is wrong.
fn is_about_something_else(status: u16, error: &str) -> bool {
    let error = error.to_lowercase();
    !matches!(status, 400 | 413 | 422) || SOMETHING_ELSE.iter().any(|words| error.contains(words))
}
