//! Writes a thread as a request body, as a client does.
//!
//! Bodies are written directly as bytes, without a value tree, because every plan writes several of them.

use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::thread::{Block, Call, Message};
use super::{Paths, Wire, json_string};

/// How a client requests replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// As a stream.
    Streamed,
    /// As one complete body.
    Whole,
}

/// Determines if a client asks the model to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    /// The client asks, and keeps the thinking that the model shows.
    Asked,
    /// The client leaves the decision to the model.
    Unasked,
}

/// Determines whether a client offers the search that the provider runs itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Searching {
    /// The client offers it, if the provider has one.
    Offered,
    /// The client does not offer it.
    Unoffered,
}

/// A tool as a request offers it.
#[derive(Debug, Clone, Copy)]
pub struct OfferedTool<'a> {
    /// Its name.
    pub name: &'a str,
    /// The description that the model reads.
    pub description: &'a str,
    /// The JSON Schema of its arguments.
    pub input_schema: &'a Value,
}

/// How requests of a dialect are written: the model, unless it is in the path, then the head, the messages in
/// brackets, and the rest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestForm {
    /// The model to ask if none is named.
    pub current_model: &'static str,
    /// A later model, for which the provider has different rules; `None` if its rules are the same for all
    /// models.
    pub newer_model: Option<&'static str>,
    /// The text before the messages, except for the model. It ends with the key of the messages and a colon.
    pub head: &'static str,
    /// The field that asks the model to think, with a comma before it; empty if the dialect has no such
    /// field, or exposes no thinking.
    pub thinking: &'static str,
    /// The field that asks for a token report in a stream, with a comma before it; empty if every stream has
    /// one.
    pub usage: &'static str,
    /// The declaration of one tool.
    pub tool: fn(&OfferedTool<'_>) -> Value,
    /// The declaration of the search that the provider runs itself, if it has one.
    pub search: Option<fn() -> Value>,
    /// The key under which a single entry in the tool list contains all declarations; `None` if each tool has
    /// its own entry.
    pub declarations_key: Option<&'static str>,
    /// Writes the messages of a thread with commas between them, without brackets.
    pub messages: fn(&mut Vec<u8>, &[Message]),
}

impl Wire {
    /// The request body that asks for the next reply. `declared` is the text of [`Wire::declared_tools`].
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

    /// The messages of a thread as a JSON array.
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

    /// The model to ask if none is named.
    pub fn current_model(&self) -> &'static str {
        self.request.current_model
    }

    /// A later model than most systems use, for which the provider has different rules.
    pub fn newer_model(&self) -> Option<&'static str> {
        self.request.newer_model
    }

    /// The tools as every request declares them; empty if there are none.
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

/// The blocks of a message, for a dialect whose provider runs no tools.
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

/// Writes `before`, then the string as JSON.
pub(crate) fn prefixed(out: &mut Vec<u8>, before: &[u8], text: &str) {
    out.extend_from_slice(before);
    json_string(out, text);
}

impl Call {
    /// The arguments for a dialect that carries them as JSON. A flawed client keeps calls whose arguments
    /// were never completed.
    pub(crate) fn json_args(&self) -> &[u8] {
        json_or_nothing(&self.args)
    }
}

/// The arguments if they are JSON; otherwise an empty object.
pub(crate) fn json_or_nothing(args: &str) -> &[u8] {
    let is_json = serde_json::from_str::<IgnoredAny>(args).is_ok();
    if is_json { args.as_bytes() } else { b"{}" }
}
