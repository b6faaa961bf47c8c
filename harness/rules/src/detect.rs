//! Detects the dialect of a body or a bare message list.
//!
//! A dialect is reported only if the text is unambiguous, because frameworks store their messages in lists
//! that look like those of a provider. Each message is searched for features that only one dialect has,
//! and for features that none has. If the messages do not decide, the fields around the list and the model
//! name do.

mod fields;
mod message;

use crate::Dialect;
use crate::histories::is_mistral_id;
use crate::json::{self, Json, Part};
use message::{Sign, sign};

/// Returns the dialect of a request body or a bare message list, if it is unambiguous; see
/// [`DIALECT_SIGNS`].
///
/// Returns `None` if the text is not a conversation, if several dialects could have written it (such as a
/// lone user message without a model), if its parts point to different dialects, or if no provider accepts
/// the form of a message. Mistral's requests look like OpenAI's. They are recognized by the model's name,
/// or without a model, by call ids of nine characters.
pub fn detect(body: &[u8]) -> Option<Dialect> {
    Dialect::from_name(clues(body)?.dialect?)
}

/// Returns whether the messages of a body have no sign of a dialect, and nothing that is foreign to all of them.
pub(crate) fn is_open(body: &[u8]) -> bool {
    clues(body).is_some_and(|clues| {
        let messages = clues.messages;
        clues.dialect.is_none() && messages.of.is_none() && !messages.is_foreign
    })
}

/// Returns the name of a known but unsupported API that the body is for, such as `Gemini Interactions`.
pub fn unspoken(body: &[u8]) -> Option<&'static str> {
    clues(body)?.unspoken
}

/// The features that make a text unambiguous, by dialect name.
pub const DIALECT_SIGNS: [(&str, &str); 6] = [
    (
        ANTHROPIC,
        "blocks `tool_use` with an id, `tool_result` with `tool_use_id`, or `thinking`; tools with `input_schema`; a \
         model `claude-…`",
    ),
    (
        CHAT,
        "`tool_calls` with `function`, role `tool` with `tool_call_id`; tools with `function`; a model `gpt-…`",
    ),
    (RESPONSES, "`input` with a model; items such as `function_call` with `call_id`; blocks `input_text`"),
    (
        GEMINI,
        "contents of a `role` and `parts`, whose fields are `text`, `functionCall`, `functionResponse`, …",
    ),
    (BEDROCK, "blocks `toolUse` or `toolResult` with `toolUseId`; `toolConfig` or `inferenceConfig`"),
    (
        MISTRAL,
        "what openai-chat has, with a model of Mistral's or call ids of nine letters and digits, some of them capitals",
    ),
];

const ANTHROPIC: &str = "anthropic-messages";
const CHAT: &str = "openai-chat";
const RESPONSES: &str = "openai-responses";
const GEMINI: &str = "gemini";
const BEDROCK: &str = "bedrock-converse";
const MISTRAL: &str = "mistral";

fn clues(body: &[u8]) -> Option<Clues> {
    let mut clues = Clues::default();
    let is_list = body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    let read = if is_list {
        json::walk_list(body, |part| clues.take(part))
    } else {
        json::walk(body, "messages", |part| clues.take(part))
    };
    read.ok()?;
    Some(clues)
}

/// Features found in a request. Dialects are stored by name, so that an unsupported dialect is not
/// mistaken for a supported one.
#[derive(Debug, Default)]
struct Clues {
    messages: Messages,
    /// True if the body has a list of messages.
    has_messages: bool,
    dialect: Option<&'static str>,
    unspoken: Option<&'static str>,
}

/// Features found in all messages of a list, combined.
#[derive(Debug, Default)]
struct Messages {
    /// The dialect that the messages indicate.
    of: Option<&'static str>,
    /// True if messages indicate different dialects.
    is_mixed: bool,
    /// True if a message has a form that no provider accepts.
    is_foreign: bool,
    /// `Some(true)` if there are call ids and each consists of nine characters; `None` if there are
    /// none.
    has_short_ids: Option<bool>,
    /// True if an id of a call has a capital letter.
    has_capitals: bool,
    starts_with_system: bool,
    /// True if every message has only texts without a type. Bedrock writes texts like that, and so do a
    /// few frameworks.
    has_untyped_texts: bool,
}

impl Messages {
    fn of(signs: impl Iterator<Item = Sign>) -> Messages {
        let mut messages = Messages::default();
        signs.for_each(|sign| messages.add(sign));
        messages
    }

    fn has_mistral_ids(&self) -> bool {
        self.has_short_ids == Some(true) && self.has_capitals
    }

    fn message(&mut self, n: usize, message: Json) {
        self.starts_with_system |= n == 0 && message.field("role").is("system");
        self.has_untyped_texts = (n == 0 || self.has_untyped_texts) && message::has_untyped_texts(message);
        self.add(sign(message));
        for call in message.field("tool_calls").items() {
            let id = call.field("id").as_str();
            let is_short = id.as_ref().is_some_and(|id| is_mistral_id(id));
            self.has_short_ids = Some(self.has_short_ids.unwrap_or(true) && is_short);
            // Groq's ids have nine characters too, none of them a capital.
            self.has_capitals |= id.is_some_and(|id| id.contains(|c: char| c.is_ascii_uppercase()));
        }
    }

    fn add(&mut self, sign: Sign) {
        match sign {
            Sign::Nothing => {}
            Sign::Foreign => self.is_foreign = true,
            Sign::Of(dialect) => {
                self.is_mixed |= self.of.is_some_and(|other| other != dialect);
                self.of = Some(dialect);
            }
        }
    }

    /// Returns the dialect if the messages leave no doubt.
    fn told(&self) -> Option<&'static str> {
        self.of.filter(|_| !self.is_mixed && !self.is_foreign)
    }
}

impl Clues {
    fn take(&mut self, part: Part<'_, '_>) {
        match part {
            Part::Begin => *self = Clues { has_messages: true, ..Clues::default() },
            Part::Item(n, message) => self.messages.message(n, message),
            Part::Rest(body) => {
                self.unspoken = fields::unspoken(body).filter(|_| !self.has_messages);
                self.dialect = self.of_request(body).map(|found| self.told_from_mistral(found, body));
            }
        }
    }

    /// `body` is null for a bare list.
    fn of_request(&self, body: Json) -> Option<&'static str> {
        match self.has_messages {
            true if body.is_null() => self.messages.told(),
            true => self.of_messages(body),
            false if self.unspoken.is_some() => None,
            false => of_contents(body).or_else(|| of_input(body)),
        }
    }

    fn of_messages(&self, body: Json) -> Option<&'static str> {
        let around = fields::of_fields(body);
        match (self.messages.of, around) {
            _ if self.messages.is_mixed => around.filter(|_| fields::is_sent(body)),
            (Some(dialect), Some(other)) if dialect != other => None,
            // If a message is foreign, only a body that is clearly a request shows which provider it is
            // for.
            (of, around) if self.messages.is_foreign => {
                let known = of.or(around).or_else(|| fields::of_model(body));
                known.filter(|_| fields::is_sent(body))
            }
            (of, around) => of.or(around).or_else(|| self.of_model(body)),
        }
    }

    fn of_model(&self, body: Json) -> Option<&'static str> {
        if body.get("model").is_none() {
            return self.messages.has_untyped_texts.then_some(BEDROCK);
        }
        match fields::of_model(body) {
            // Gateways offer Claude in OpenAI's dialect under its own name. There, a system prompt comes
            // first.
            Some(ANTHROPIC) if self.messages.starts_with_system => None,
            None if self.messages.starts_with_system => Some(CHAT),
            found => found,
        }
    }

    fn told_from_mistral(&self, found: &'static str, body: Json) -> &'static str {
        let is_mistral = match &body.field("model").as_str() {
            Some(model) => fields::is_mistral_model(model),
            None => self.messages.has_mistral_ids(),
        };
        if found == CHAT && (is_mistral || fields::is_mistral(body)) { MISTRAL } else { found }
    }
}

/// Gemini's list is called `contents`. A content may have no role.
fn of_contents(body: Json) -> Option<&'static str> {
    let contents = body.field("contents");
    let signs = contents.items().map(|content| match sign(content) {
        Sign::Nothing if message::is_content_without_role(content) => Sign::Of(GEMINI),
        sign => sign,
    });
    let told = Messages::of(signs);
    let is_sent = fields::is_gemini(body) && !told.is_mixed && told.of.is_none_or(|of| of == GEMINI);
    let is_told = told.told() == Some(GEMINI) || is_sent;
    (contents.is_array() && is_told).then_some(GEMINI)
}

/// The Responses API uses `input`. Embedding requests have an `input` too, but no list of messages and no
/// fields that only conversations have.
fn of_input(body: Json) -> Option<&'static str> {
    let input = body.get("input")?;
    if input.item(0).is_null() {
        return fields::is_responses(body).then_some(RESPONSES);
    }
    let told = Messages::of(input.items().map(sign));
    // Tools for traces keep the messages of Chat Completions in a field of this name.
    let is_of_chat = |item: Json| item.get("tool_calls").is_some() || item.field("role").is("tool");
    let is_trace = ["output", "traceId", "trace_id", "startTime", "start_time", "type"]
        .iter()
        .any(|name| body.get(name).is_some());
    if is_trace && input.items().any(is_of_chat) {
        return None;
    }
    let is_plain = || input.item(0).get("role").is_some() && body.get("model").is_some();
    let is_told = told.told() == Some(RESPONSES) || (is_plain() && !told.is_foreign);
    is_told.then_some(RESPONSES)
}

#[cfg(test)]
mod tests;
