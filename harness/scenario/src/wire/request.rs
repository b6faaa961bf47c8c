//! From a thread to a request body, as a client writes it.
//!
//! Bodies are written as bytes, without a tree of values between: every plan writes several of them.

use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::thread::{Block, Call, Message};
use super::{Paths, Wire, json_string};

/// How a client asks for replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// As a stream.
    Streamed,
    /// In one piece.
    Whole,
}

/// Whether a client asks the model to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    /// It does, and keeps what the model shows of it.
    Asked,
    /// It leaves that to the model.
    Unasked,
}

/// Whether a client offers the search that the provider runs itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Searching {
    /// It does, where the provider has one.
    Offered,
    /// It does not.
    Unoffered,
}

/// A tool as a request offers it.
#[derive(Debug, Clone, Copy)]
pub struct OfferedTool<'a> {
    /// Its name.
    pub name: &'a str,
    /// What the model reads about it.
    pub description: &'a str,
    /// The JSON Schema of its arguments.
    pub input_schema: &'a Value,
}

/// How requests of a dialect are written. The model comes first, unless it stands in the path, then the head, the messages
/// in brackets, and the rest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestForm {
    /// The model that is asked where none is named.
    pub current_model: &'static str,
    /// A later one, for which the provider has rules of its own; none where its rules are the same for all models.
    pub newer_model: Option<&'static str>,
    /// What stands before the messages, but for the model: the last thing is their key with its colon.
    pub head: &'static str,
    /// The field that asks the model to think, with a comma before it; empty where a dialect has no such thing, or shows
    /// nothing of it.
    pub thinking: &'static str,
    /// What asks for a report of the tokens in a stream, with a comma before it; empty where every stream has one.
    pub usage: &'static str,
    /// The declaration of one tool.
    pub tool: fn(&OfferedTool<'_>) -> Value,
    /// The declaration of the search that the provider runs itself, if it has one.
    pub search: Option<fn() -> Value>,
    /// The key under which one entry of the list of tools has all declarations, where each has no entry of its own.
    pub declarations_key: Option<&'static str>,
    /// Whether the provider takes an id of a call when it comes back.
    pub takes_id: fn(&str) -> bool,
    /// Writes the messages of a thread with commas between them, without the brackets.
    pub messages: fn(&mut Vec<u8>, &[Message]),
}

impl Wire {
    /// The body of a request for the next reply. `declared` is the text of [`Wire::declared_tools`].
    pub fn request_body(
        &self,
        model: &str,
        delivery: Delivery,
        thinking: Thinking,
        declared: &str,
        thread: &[Message],
    ) -> Vec<u8> {
        let mut out = Vec::with_capacity(2048);
        let is_in_path = matches!(self.traits.paths, Paths::OfModel { .. });
        if !is_in_path {
            prefixed(&mut out, br#"{"model":"#, model);
        }
        out.extend_from_slice(self.request.head.as_bytes());
        self.write_messages(&mut out, thread);
        if thinking == Thinking::Asked {
            out.extend_from_slice(self.request.thinking.as_bytes());
        }
        if !is_in_path {
            out.extend_from_slice(match delivery {
                Delivery::Streamed => br#","stream":true"#,
                Delivery::Whole => br#","stream":false"#,
            });
            if delivery == Delivery::Streamed {
                out.extend_from_slice(self.request.usage.as_bytes());
            }
        }
        if let ([outer @ .., last], false) = (self.traits.tools_at, declared.is_empty()) {
            outer.iter().for_each(|key| out.extend_from_slice(format!(",\"{key}\":{{").as_bytes()));
            let comma = if outer.is_empty() { "," } else { "" };
            out.extend_from_slice(format!("{comma}\"{last}\":{declared}").as_bytes());
            outer.iter().for_each(|_| out.push(b'}'));
        }
        out.push(b'}');
        out
    }

    /// The messages of a thread, as a JSON array.
    pub fn request_messages(&self, thread: &[Message]) -> Vec<u8> {
        let mut out = Vec::new();
        self.write_messages(&mut out, thread);
        out
    }

    fn write_messages(&self, out: &mut Vec<u8>, thread: &[Message]) {
        out.push(b'[');
        (self.request.messages)(out, thread);
        out.push(b']');
    }

    /// Whether the provider takes an id of a call when it comes back.
    pub fn takes_id(&self, id: &str) -> bool {
        (self.request.takes_id)(id)
    }

    /// The model that is asked where none is named.
    pub fn current_model(&self) -> &'static str {
        self.request.current_model
    }

    /// A later model than most systems ask, for which the provider has rules of its own.
    pub fn newer_model(&self) -> Option<&'static str> {
        self.request.newer_model
    }

    /// The tools as every request declares them; empty where there are none.
    pub fn declared_tools(&self, tools: &[OfferedTool<'_>], searching: Searching) -> String {
        let search = self.request.search.filter(|_| searching == Searching::Offered).map(|search| search());
        if tools.is_empty() && search.is_none() {
            return String::new();
        }
        let declared: Value = tools.iter().map(self.request.tool).chain(search).collect();
        self.request
            .declarations_key
            .map_or(declared.to_string(), |key| json!([{ key: declared }]).to_string())
    }
}

/// [`RequestForm::takes_id`] of most dialects. The shortest bound that was seen is that of OpenAI Chat Completions.
pub(crate) fn short_ascii_id(id: &str) -> bool {
    (1..=40).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// What a message says in a dialect whose provider runs no tools.
pub(crate) fn spoken(blocks: &[Block]) -> impl Iterator<Item = &Block> {
    blocks.iter().filter(|block| !matches!(block, Block::Server(_)))
}

/// Writes items with commas between them.
pub(crate) fn list<T>(
    out: &mut Vec<u8>,
    items: impl IntoIterator<Item = T>,
    write: impl Fn(&mut Vec<u8>, T),
) {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(out, item);
    }
}

/// Writes what stands before a string, and the string.
pub(crate) fn prefixed(out: &mut Vec<u8>, before: &[u8], text: &str) {
    out.extend_from_slice(before);
    json_string(out, text);
}

impl Call {
    /// The arguments where a dialect carries JSON. A flawed client keeps calls whose arguments never became complete.
    pub(crate) fn json_args(&self) -> &[u8] {
        json_or_nothing(&self.args)
    }
}

/// Arguments, if they are JSON.
pub(crate) fn json_or_nothing(args: &str) -> &[u8] {
    let is_json = serde_json::from_str::<IgnoredAny>(args).is_ok();
    if is_json { args.as_bytes() } else { b"{}" }
}
