//! Which dialect a body or a bare list of messages is written in.
//!
//! A dialect is taken only where nothing else could have written the text: frameworks keep their own messages in lists
//! that look like those of a provider. Each message is looked at for what one dialect alone has, and for what none has.
//! The fields around the list, and the name of the model, decide where no message does.

mod fields;
mod message;

use crate::Dialect;
use crate::json::{self, Json, Part};
use message::{Sign, sign};

/// The dialect of a request body or of a bare list of messages, if it is unmistakable; see [`DIALECT_SIGNS`].
///
/// `None` means that it is no conversation, that several dialects could have written it, such as a lone user message
/// without a model, that its parts speak for different ones, or that a message is in no provider's form. Mistral writes
/// what OpenAI writes, and is known by the model's name or, where there is none, by its call ids of nine characters.
pub fn detect(body: &[u8]) -> Option<Dialect> {
    Dialect::from_name(clues(body)?.dialect?)
}

/// The API of a request body that is known and not spoken here, such as `Gemini Interactions`.
pub fn unspoken(body: &[u8]) -> Option<&'static str> {
    clues(body)?.unspoken
}

/// What makes a text unmistakable, for each dialect by its name.
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
    (MISTRAL, "what openai-chat has, with a model of Mistral's or call ids of nine letters and digits"),
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

/// What has been seen of a request. Dialects go by their names here, so that a body of a dialect that Brickbat does
/// not speak is not taken for one that it speaks.
#[derive(Debug, Default)]
struct Clues {
    messages: Messages,
    /// Whether there is a list of messages.
    has_messages: bool,
    dialect: Option<&'static str>,
    unspoken: Option<&'static str>,
}

/// What the messages of a list tell together.
#[derive(Debug, Default)]
struct Messages {
    /// The one dialect for which messages speak.
    of: Option<&'static str>,
    /// Whether messages speak for different dialects.
    is_mixed: bool,
    /// Whether one is in no provider's form.
    is_foreign: bool,
    /// Whether there are call ids, and each has nine characters.
    has_short_ids: Option<bool>,
    starts_with_system: bool,
    /// Whether every message has nothing but texts without a type, as Bedrock has; so have a few frameworks.
    has_untyped_texts: bool,
}

impl Messages {
    fn of(signs: impl Iterator<Item = Sign>) -> Messages {
        let mut messages = Messages::default();
        signs.for_each(|sign| messages.add(sign));
        messages
    }

    fn message(&mut self, n: usize, message: Json) {
        self.starts_with_system |= n == 0 && message.field("role").is("system");
        self.has_untyped_texts = (n == 0 || self.has_untyped_texts) && message::has_untyped_texts(message);
        self.add(sign(message));
        for call in message.field("tool_calls").items() {
            let id = call.field("id").as_str();
            let is_short = id.is_some_and(|id| is_mistral_id(&id));
            self.has_short_ids = Some(self.has_short_ids.unwrap_or(true) && is_short);
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

    /// The dialect that they tell without any doubt.
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

    /// `body` is null where the list stands alone.
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
            // Only a request that could be sent as it is shows without its messages for whom it was written.
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
            // Gateways offer Claude in OpenAI's dialect by its own name, and there a system prompt comes first.
            Some(ANTHROPIC) if self.messages.starts_with_system => None,
            None if self.messages.starts_with_system => Some(CHAT),
            found => found,
        }
    }

    fn told_from_mistral(&self, found: &'static str, body: Json) -> &'static str {
        let is_mistral = match &body.field("model").as_str() {
            Some(model) => fields::is_mistral_model(model),
            None => self.messages.has_short_ids == Some(true),
        };
        if found == CHAT && (is_mistral || fields::is_mistral(body)) { MISTRAL } else { found }
    }
}

/// Gemini's list is called `contents`, where a content may lack its role.
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

/// The Responses API has an `input`. A request for embeddings has one as well, but neither a list of messages nor a
/// field that only conversations have.
fn of_input(body: Json) -> Option<&'static str> {
    let input = body.get("input")?;
    if input.item(0).is_null() {
        return fields::is_responses(body).then_some(RESPONSES);
    }
    let told = Messages::of(input.items().map(sign));
    let is_plain = || input.item(0).get("role").is_some() && body.get("model").is_some();
    let is_told = told.told() == Some(RESPONSES) || (is_plain() && !told.is_foreign);
    is_told.then_some(RESPONSES)
}

/// Mistral's ids have nine letters and digits, and it refuses others.
fn is_mistral_id(id: &str) -> bool {
    id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests;
