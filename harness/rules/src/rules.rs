//! The strict provider's rules: what a request body must look like to be accepted.
//!
//! [`validate`] answers for any bytes: an empty list means that the provider accepts the body, and the first
//! error of the list is what the provider would answer. Which rules bind, and how hard, is a [`Profile`].
//!
//! The rules judge one body, and what it names of earlier replies if they are given a [`Memory`] of them. They know no
//! SDK, and check no authentication, no model name and no sampling parameter. What is not known to be rejected is
//! accepted: unknown keys, unknown block types and unknown models pass, because a false rejection is worse than a miss.

mod anthropic;
mod bedrock;
mod detect;
mod envelope;
mod gemini;
mod hosts;
mod ids;
mod judge;
mod memory;
mod mistral;
mod openai;
mod profile;
mod responses;
mod union;
mod violation;
mod waiting;

use serde::Serialize;
use serde_json::Value;

use crate::dialect::Dialect;
use crate::json::{self, Document, Json, Kind, Part};

pub use detect::detect;
pub use envelope::RelativeEnvelope;
pub use hosts::profile_for;
pub use memory::{Keeps, Memory, Told, WrittenOut};
pub use profile::{
    Alternation, AnthropicSwitches, Arguments, CallIds, FirstMessage, GeminiSwitches, MessageFields,
    MistralSwitches, ModelVersion, OpenaiChatSwitches, Pairing, Profile, ReasoningContent, ResponsesSwitches,
    Switches, SystemMessages, UserAfterTool,
};
pub use union::{UnionViolation, validate_union, validate_union_list};
pub use violation::{Envelope, MAX_VIOLATIONS, Severity, Violation, refusal};

use judge::{Judge, book};
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
    /// The provider's sentences, the usual one first. `{name}` stands for what differs from breach to breach.
    pub sentences: &'static [&'static str],
    /// The HTTP status with which the provider refuses.
    pub status: u16,
    /// The place in the order of checks: of two breaches the one with the lower phase is answered.
    /// Inside a phase it is the one that comes first in the conversation.
    pub phase: u8,
    /// Whether only profiles that name the rule enforce it; other providers of the dialect do not know it.
    pub is_optional: bool,
    /// When the provider was first seen to enforce it, as `YYYY-MM`.
    pub since: &'static str,
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
        Dialect::ALL.into_iter().flat_map(|dialect| book(dialect).rules()).copied()
    }

    /// The rule of that id (`anthropic-messages/tool-result-missing`) or alias (`ANT-TU-1`).
    pub fn find(id_or_alias: &str) -> Option<&'static Rule> {
        Rule::all().find(|rule| rule.id == id_or_alias || rule.alias == id_or_alias)
    }

    /// The rules of that id, alias or name without its dialect, which several dialects may share.
    pub fn named(name: &str) -> Vec<&'static Rule> {
        match Rule::find(name) {
            Some(rule) => vec![rule],
            None => Rule::all().filter(|rule| rule.short_name() == name).collect(),
        }
    }

    /// The id without the dialect.
    pub fn short_name(&self) -> &'static str {
        self.id.split_once('/').map_or(self.id, |(_, name)| name)
    }

    /// The dialect to which the rule belongs.
    pub fn dialect(&self) -> Dialect {
        let name = self.id.split('/').next().unwrap_or_default();
        Dialect::from_name(name).unwrap_or(Dialect::AnthropicMessages)
    }
}

/// The field of a request body that holds the conversation, for example `messages`.
pub fn list_of(dialect: Dialect) -> &'static str {
    book(dialect).list()
}

/// What the provider of this profile has against a request body, in the order in which it checks.
///
/// Any bytes have an answer. The list holds at most [`MAX_VIOLATIONS`] errors and as many warnings.
pub fn validate(profile: &'static Profile, body: &[u8]) -> Vec<Violation> {
    validate_remembering(profile, &Memory::default(), body)
}

/// The same as [`validate`] for a provider that remembers what it said before.
pub fn validate_remembering(profile: &'static Profile, memory: &Memory, body: &[u8]) -> Vec<Violation> {
    let mut court = Court::new(profile, memory, None);
    match json::walk(body, book(profile.dialect).list(), |part| court.take(part)) {
        Ok(()) => court.out.into_violations(),
        Err(error) => unreadable(profile, body, &error),
    }
}

/// The same as [`validate_remembering`] for a body with what became of reading it, and the model if the path of the
/// request names it.
pub fn validate_asking(
    profile: &'static Profile,
    memory: &Memory,
    model: Option<&str>,
    body: &[u8],
    document: &Result<Document, serde_json::Error>,
) -> Vec<Violation> {
    match document {
        Ok(document) => {
            let mut court = Court::new(profile, memory, model);
            json::walk_document(document, book(profile.dialect).list(), |part| court.take(part));
            court.out.into_violations()
        }
        Err(error) => unreadable(profile, body, error),
    }
}

/// The same as [`validate`] for a bare list of messages. Places are named as if the list stood in a body.
pub fn validate_list(profile: &'static Profile, list: &[u8]) -> Vec<Violation> {
    let memory = Memory::default();
    let mut court = Court::new(profile, &memory, None);
    let around = Document::parse(book(profile.dialect).bare()).unwrap_or_default();
    match walk_bare(list, &around, |part| court.take(part)) {
        Ok(()) => court.out.into_violations(),
        Err(error) => unreadable(profile, list, &error),
    }
}

/// Walks a bare list of messages as if it stood in the body `around`.
fn walk_bare<'a>(
    list: &'a [u8],
    around: &Document<'a>,
    mut each: impl FnMut(Part<'_, 'a>),
) -> Result<(), serde_json::Error> {
    json::walk_list(list, |part| match part {
        Part::Rest(rest) if rest.is_null() => each(Part::Rest(around.root())),
        part => each(part),
    })
}

/// The same as [`validate`] for a body that is already a value.
pub fn validate_value(profile: &'static Profile, body: &Value) -> Vec<Violation> {
    validate(profile, body.to_string().as_bytes())
}

fn unreadable(profile: &'static Profile, body: &[u8], error: &serde_json::Error) -> Vec<Violation> {
    let mut out = Breaches::new(profile);
    book(profile.dialect).refuse_unreadable(body, error, &mut out);
    out.into_violations()
}

/// A judge at work on one request.
struct Court<'a> {
    profile: &'static Profile,
    memory: &'a Memory,
    model: Option<&'a str>,
    judge: Box<dyn Judge<'a> + 'a>,
    n_messages: Option<usize>,
    out: Breaches,
}

impl<'a> Court<'a> {
    fn new(profile: &'static Profile, memory: &'a Memory, model: Option<&'a str>) -> Court<'a> {
        let mut judge = book(profile.dialect).judge(profile, memory);
        if let Some(model) = model {
            judge.model(model);
        }
        Court { profile, memory, model, judge, n_messages: None, out: Breaches::new(profile) }
    }

    fn take(&mut self, part: Part<'_, 'a>) {
        match part {
            Part::Begin => {
                if self.n_messages.is_some() {
                    *self = Court::new(self.profile, self.memory, self.model);
                }
                self.n_messages = Some(0);
            }
            Part::Item(n, message) => {
                self.n_messages = Some(n + 1);
                self.judge.message(n, message, &mut self.out);
            }
            Part::Rest(body) => {
                // A later field of that name, which is no list, counts.
                if self.n_messages.is_some() && !body.field(book(self.profile.dialect).list()).is_array() {
                    *self = Court::new(self.profile, self.memory, self.model);
                }
                self.judge.finish(body, self.n_messages, &mut self.out);
            }
        }
    }
}

/// The name of a JSON type as OpenAI's sentences spell it, with its article.
fn type_with_article(value: Json) -> &'static str {
    match value.kind() {
        Kind::Null => "null",
        Kind::Bool => "a boolean",
        Kind::Number if value.raw().contains(['.', 'e', 'E']) => "a decimal",
        Kind::Number => "an integer",
        Kind::String => "a string",
        Kind::Array => "an array",
        Kind::Object => "an object",
    }
}

/// Whether a text is not empty and has only ASCII letters, digits, `_` and `-`.
fn is_plain_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

#[cfg(test)]
mod tests;
