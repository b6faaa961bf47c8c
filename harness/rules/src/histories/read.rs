//! Reads the conversation in a request body.

use std::fmt;

use serde_json::Value;

use super::{Block, Message, Role};
use crate::Dialect;
use crate::json::{Document, Json};

/// One entry of the list of messages in a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The speaker.
    pub role: Role,
    /// The id of a message that the provider refers to by an id, in OpenAI Responses. Calls, thoughts and
    /// objects that only look like a message have none here.
    pub id: Option<String>,
    /// The blocks in order, each with its JSON pointer.
    pub blocks: Vec<(String, Block)>,
}

/// Reads the entry at a pointer. Any value gives an entry. Parts that are not understood become native blocks.
///
/// Only one block at a time is copied into a value: a reply of a large session has many thousands.
pub fn read_entry(dialect: Dialect, entry: Json<'_, '_>, pointer: &str) -> Entry {
    let mut reader = Reader { dialect, pointer, id: None, blocks: Vec::new() };
    let role = (dialect.codec().read)(&mut reader, entry);
    Entry { role, id: reader.id, blocks: reader.blocks }
}

/// Reads the messages of a parsed body, instructions first, or those of a list without a body.
pub fn read(dialect: Dialect, body: &Value) -> Vec<Message> {
    let instructions = instructions(body).into_iter().map(|text| Message::text(Role::System, text));
    let bytes = body.to_string();
    let Ok(document) = Document::parse(bytes.as_bytes()) else { return instructions.collect() };
    let message = |entry| {
        let Entry { role, blocks, .. } = read_entry(dialect, entry, "");
        Message { role, blocks: blocks.into_iter().map(|(_, block)| block).collect() }
    };
    instructions.chain(list_in(dialect, document.root()).items().map(message)).collect()
}

/// Returns the instructions outside the list. A body can have those of another dialect, for example after a
/// wrong conversion.
pub fn instructions(body: &Value) -> Vec<String> {
    let mut keys: Vec<&str> = Vec::new();
    for key in Dialect::ALL.into_iter().flat_map(|dialect| dialect.codec().instructions_at) {
        if !keys.contains(key) {
            keys.push(key);
        }
    }
    let mut texts = Vec::new();
    keys.into_iter().filter_map(|key| body.get(key)).for_each(|value| gather(value, &mut texts));
    texts
}

fn gather(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| gather(item, texts)),
        Value::Object(fields) => {
            let inner = fields.iter().filter(|(key, _)| *key == "text" || *key == "parts");
            inner.for_each(|(_, value)| gather(value, texts));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the list of messages in a body. A list without a body is returned itself.
pub fn list_in<'t, 'a>(dialect: Dialect, root: Json<'t, 'a>) -> Json<'t, 'a> {
    if root.is_array() { root } else { root.field(crate::list_of(dialect)) }
}

/// Collects the blocks of one entry.
#[derive(Debug)]
pub(crate) struct Reader<'p> {
    dialect: Dialect,
    pointer: &'p str,
    /// See [`Entry::id`].
    pub(crate) id: Option<String>,
    blocks: Vec<(String, Block)>,
}

impl Reader<'_> {
    /// Adds a block at a pointer below the entry.
    pub(crate) fn push(&mut self, below: fmt::Arguments<'_>, block: Block) {
        self.blocks.push((format!("{}{below}", self.pointer), block));
    }

    /// Adds the entry itself as one block.
    pub(crate) fn push_entry(&mut self, block: Block) {
        self.blocks.push((self.pointer.to_owned(), block));
    }

    /// A part that only this dialect has.
    pub(crate) fn native(&self, value: Value) -> Block {
        Block::Native { dialect: self.dialect, value }
    }

    /// Reads a message that consists of blocks, in the field with this key. `block` reads one block, or
    /// returns `None` for a native one.
    pub(crate) fn message(
        &mut self,
        entry: Json<'_, '_>,
        key: &str,
        block: fn(&Value) -> Option<Block>,
    ) -> Role {
        let content = entry.field(key);
        if let Some(text) = content.as_str() {
            self.push(format_args!("/{key}"), Block::Text(text.into_owned()));
        }
        for (n, value) in content.items().enumerate() {
            let value = value.to_value();
            let block = block(&value).unwrap_or_else(|| self.native(value));
            self.push(format_args!("/{key}/{n}"), block);
        }
        match &*entry.field("role").as_str().unwrap_or_default() {
            "assistant" | "model" => Role::Assistant,
            "system" => Role::System,
            _ if self.has_only_results() => Role::Tool,
            _ => Role::User,
        }
    }

    fn has_only_results(&self) -> bool {
        let is_result = |(_, block): &(String, Block)| matches!(block, Block::Result(_));
        !self.blocks.is_empty() && self.blocks.iter().all(is_result)
    }
}

/// The blocks in the content of a result. `block` reads one of them.
pub(crate) fn output(
    dialect: Dialect,
    content: Option<&Value>,
    block: fn(&Value) -> Option<Block>,
) -> Vec<Block> {
    let read =
        |value: &Value| block(value).unwrap_or_else(|| Block::Native { dialect, value: value.clone() });
    match content {
        Some(Value::Array(blocks)) => blocks.iter().map(read).collect(),
        Some(Value::Null) | None => Vec::new(),
        other => vec![spoken(other)],
    }
}

/// A content as text: a string unchanged, any other value as JSON.
pub(crate) fn spoken(content: Option<&Value>) -> Block {
    Block::Text(json_text(content))
}

/// Arguments as JSON text. A string is the model's own text.
pub(crate) fn json_text(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    }
}

/// A text field; empty if it is missing or not a text.
pub(crate) fn text(value: &Value, key: &str) -> String {
    owned(value, key).unwrap_or_default()
}

/// A text field.
pub(crate) fn owned(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_owned)
}
