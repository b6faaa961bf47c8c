//! One recorded exchange against our verdict.

use super::{Exchange, Spoken};
use crate::Dialect;
use crate::json::Document;
use crate::{self as rules, Memory, Profile};

/// How recordings are compared.
#[derive(Debug, Clone, Copy, Default)]
pub struct CompareOptions {
    /// The dialect of all requests, if it is not to be guessed.
    pub dialect: Option<Dialect>,
    /// The profile for the requests of its dialect.
    pub profile: Option<&'static Profile>,
}

/// What came of an exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// It was judged, by the profile of that name.
    Judged(&'static str, Agreement),
    /// No profile is known for its host in this dialect.
    NoProfile(Dialect),
    /// The request asks for no reply, so there is nothing to judge.
    NoReply,
    /// It is written in a dialect that Brickbat does not speak.
    NotSpoken(String),
    /// Neither its address nor its body says in which dialect it is written.
    Unclear,
}

/// How our verdict and the provider's go together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Agreement {
    /// Both accept the request.
    Accepted,
    /// Both refuse it.
    Refused {
        /// The rule.
        rule: &'static str,
    },
    /// We refuse what the provider accepted: a rule is wrong.
    TooStrict {
        /// The rule.
        rule: &'static str,
        /// Where it is broken.
        pointer: String,
        /// Our sentence.
        message: String,
    },
    /// We accept what the provider refused: a rule may be missing.
    TooLax,
    /// The provider refused it because of something that no rule is about.
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

/// The profile of whoever answers at the host; the newest of the dialect where no host is recorded.
fn profile_of(dialect: Dialect, exchange: &Exchange) -> Option<&'static Profile> {
    let model = exchange.model().unwrap_or_default();
    match exchange.host.as_str() {
        "" => Some(Profile::newest(dialect)),
        host => rules::profile_for(dialect, host, &model),
    }
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
        // Words that are ours are about the history, whatever else they sound like.
        Some(refusal) if says_the_same(&exchange.error, &refusal.message) => {
            Agreement::Refused { rule: refusal.rule.id }
        }
        _ if is_about_something_else(exchange.status, &exchange.error) => Agreement::SomethingElse,
        Some(refusal) => Agreement::Refused { rule: refusal.rule.id },
        None => Agreement::TooLax,
    }
}

/// Whether a provider's words are those of our sentence. Recordings cut long ones, so the beginning is enough; and
/// gateways put their own words before them.
fn says_the_same(error: &str, sentence: &str) -> bool {
    let plain = |text: &str| -> String {
        let is_kept = |c: &char| c.is_alphanumeric();
        text.chars().filter(is_kept).flat_map(char::to_lowercase).collect()
    };
    let (error, sentence) = (plain(error), plain(sentence));
    let end = sentence.char_indices().nth(MIN_SAME_CHARS).map_or(sentence.len(), |(end, _)| end);
    !sentence.is_empty() && error.contains(&sentence[..end])
}

/// Letters by which two sentences are the same: longer than any path to a place in a request.
const MIN_SAME_CHARS: usize = 40;

/// Words of refusals that are not about the history: about the model, what it can do, what it wrote, or the account.
const SOMETHING_ELSE: [&str; 15] = [
    "model identifier",
    "model not found",
    "model does not exist",
    "invalid model",
    "does not support",
    "doesn't support",
    "not supported with",
    // A model that does not hear is sent audio:
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

/// Only these statuses say that the request itself is wrong.
fn is_about_something_else(status: u16, error: &str) -> bool {
    let error = error.to_lowercase();
    !matches!(status, 400 | 413 | 422) || SOMETHING_ELSE.iter().any(|words| error.contains(words))
}
