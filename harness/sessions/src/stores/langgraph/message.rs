//! Converts LangChain messages into blocks: `langchain_core/messages` 1.7.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::Dialect;
use brickbat_rules::histories::{Block as Content, Call, CallResult, Image, Role, Signs, Thinking};
use serde_json::Value;

use super::msgpack;
use crate::json::text;
use crate::names;
use crate::{Block, Ending, Message, Place};

/// A stored message: its class name and its fields.
pub(super) struct Stored {
    pub(super) class: String,
    pub(super) fields: Value,
}

/// The state of a call with arguments that LangChain could not parse.
pub(super) const INVALID: &str = "invalid_tool_call";

impl Stored {
    /// A message from a Python object with a module, a class and fields.
    pub(super) fn of_msgpack(value: &msgpack::Value) -> Option<Stored> {
        let msgpack::Value::Object(_, inner) = value else { return None };
        let [_, class, fields, ..] = inner.items() else { return None };
        Some(Stored { class: class.as_str()?.to_owned(), fields: fields.to_json() })
    }

    /// A message in the form of checkpoints before MessagePack: `{"lc": …, "type": "constructor", "id": […],
    /// "kwargs": {…}}`.
    pub(super) fn of_json(value: &Value) -> Option<Stored> {
        value.get("lc")?;
        let class = value.get("id")?.as_array()?.last()?.as_str()?.to_owned();
        Some(Stored { class, fields: value.get("kwargs")?.clone() })
    }

    pub(super) fn id(&self) -> Option<String> {
        self.fields.get("id").and_then(Value::as_str).map(str::to_owned)
    }

    /// The provider and the model of a reply, as LangChain's partner classes record them.
    pub(super) fn provider(&self) -> Option<(Dialect, Option<String>)> {
        let metadata = self.fields.get("response_metadata")?;
        let word = |key: &str| Some(text(metadata, key).to_owned()).filter(|word| !word.is_empty());
        let model = word("model_name").or_else(|| word("model"));
        let is_responses =
            text(metadata, "object") == "response" || text(metadata, "id").starts_with("resp_");
        let candidates = || names::candidates(|names| names.langgraph, text(metadata, "model_provider"), "");
        // Only the Responses API gives ids to items.
        let may_be = |dialect: &Dialect| (dialect.codec().signs == Signs::Items) == is_responses;
        let dialect = candidates().find(may_be).or_else(|| candidates().next())?;
        Some((dialect, model))
    }

    /// Returns whether the message is a summary by which LangChain's middleware replaced earlier messages.
    pub(super) fn is_summary(&self) -> bool {
        self.fields.pointer("/additional_kwargs/lc_source").and_then(Value::as_str) == Some("summarization")
    }

    /// The message. `None` if its class is unknown.
    pub(super) fn message(&self, place: &Place, names: &mut BTreeMap<String, String>) -> Option<Message> {
        let class = self.class.strip_suffix("Chunk").unwrap_or(&self.class);
        let role = match class {
            "HumanMessage" => Role::User,
            "AIMessage" => Role::Assistant,
            "SystemMessage" => Role::System,
            "ToolMessage" => Role::Tool,
            _ => return None,
        };
        let mut blocks = Blocks { stored: self, place, blocks: Vec::new(), called: BTreeSet::new() };
        match role {
            Role::Tool => blocks.result(names),
            Role::Assistant => blocks.reply(names),
            _ => blocks.content(|_| None),
        }
        let blocks = blocks.blocks;
        Some(Message { role, blocks, id: self.id(), place: place.clone(), ending: Ending::Whole })
    }
}

struct Blocks<'s> {
    stored: &'s Stored,
    place: &'s Place,
    blocks: Vec<Block>,
    /// Calls that have a block in the content, by their list and index.
    called: BTreeSet<(&'static str, usize)>,
}

impl Blocks<'_> {
    fn push(&mut self, pointer: String, content: Content) {
        let place = Place { pointer: format!("{}{pointer}", self.place.pointer), ..self.place.clone() };
        self.blocks.push(Block { place, content, state: None });
    }

    /// The blocks of the content. `call` finds the call that a block represents.
    fn content(&mut self, call: impl Fn(&Value) -> Option<(&'static str, usize)>) {
        let stored = self.stored;
        match stored.fields.get("content") {
            Some(Value::String(words)) if !words.is_empty() => {
                self.push("/content".to_owned(), Content::Text(words.clone()));
            }
            Some(Value::Array(parts)) => {
                for (n, value) in parts.iter().enumerate() {
                    match call(value) {
                        Some((list, n)) => self.call(list, n, value),
                        None => {
                            if let Some(content) = part(value, stored.provider().map(|(dialect, _)| dialect))
                            {
                                self.push(format!("/content/{n}"), content);
                            }
                        }
                    }
                }
            }
            _ => {}
        }
    }

    fn reply(&mut self, names: &mut BTreeMap<String, String>) {
        let stored = self.stored;
        let mut listed: BTreeMap<&str, (&'static str, usize)> = BTreeMap::new();
        // If one id is in both lists, the call with readable arguments counts.
        for list in ["invalid_tool_calls", "tool_calls"] {
            for (n, call) in calls(&stored.fields, list).iter().enumerate() {
                listed.insert(text(call, "id"), (list, n));
                names.insert(text(call, "id").to_owned(), text(call, "name").to_owned());
            }
        }
        self.content(|value| {
            let id = match text(value, "type") {
                "tool_use" | "tool_call" => text(value, "id"),
                "function_call" => text(value, "call_id"),
                _ => return None,
            };
            listed.get(id).copied()
        });
        for list in ["tool_calls", "invalid_tool_calls"] {
            for n in 0..calls(&stored.fields, list).len() {
                if !self.called.contains(&(list, n)) {
                    self.call(list, n, &Value::Null);
                }
            }
        }
    }

    /// Adds a call, and its block in the content.
    fn call(&mut self, list: &'static str, n: usize, block: &Value) {
        let stored = self.stored;
        if !self.called.insert((list, n)) {
            return;
        }
        let Some(call) = calls(&stored.fields, list).get(n) else { return };
        let arguments = match call.get("args") {
            Some(Value::String(words)) => words.clone(),
            Some(Value::Null) | None => String::new(),
            Some(value) => value.to_string(),
        };
        let item =
            Some(text(block, "id")).filter(|id| text(block, "type") == "function_call" && !id.is_empty());
        let content = Content::Call(Call {
            item: item.map(str::to_owned),
            ..Call::new(text(call, "id"), text(call, "name"), arguments)
        });
        self.push(format!("/{list}/{n}"), content);
        if list == "invalid_tool_calls"
            && let Some(last) = self.blocks.last_mut()
        {
            last.state = Some(INVALID.to_owned());
        }
    }

    fn result(&mut self, names: &BTreeMap<String, String>) {
        let fields = &self.stored.fields;
        let call = text(fields, "tool_call_id").to_owned();
        let output = match fields.get("content") {
            Some(Value::String(words)) => vec![Content::Text(words.clone())],
            Some(Value::Array(parts)) => parts.iter().filter_map(|value| part(value, None)).collect(),
            _ => Vec::new(),
        };
        let name = names.get(&call).cloned().unwrap_or_else(|| text(fields, "name").to_owned());
        let is_error = text(fields, "status") == "error";
        self.push(
            String::new(),
            Content::Result(CallResult { is_error, ..CallResult::new(call, name, output) }),
        );
    }
}

fn calls<'f>(fields: &'f Value, list: &str) -> &'f [Value] {
    fields.get(list).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// A block of the content. `None` if it is not sent in this form.
fn part(value: &Value, dialect: Option<Dialect>) -> Option<Content> {
    if let Some(words) = value.as_str() {
        return Some(Content::Text(words.to_owned()));
    }
    let word = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    match text(value, "type") {
        "text" | "output_text" => Some(Content::Text(word("text")?)),
        "thinking" => {
            let signature = word("signature").filter(|signature| !signature.is_empty());
            Some(Content::Thinking(Thinking { text: word("thinking")?, signature, id: None }))
        }
        "reasoning" => {
            let signature = word("encrypted_content");
            Some(Content::Thinking(Thinking { text: String::new(), signature, id: word("id") }))
        }
        "image_url" => {
            let url = value.pointer("/image_url/url").or_else(|| value.get("image_url"))?.as_str()?;
            let (media_type, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
            Some(Content::Image(Image { media_type: media_type.to_owned(), data: data.to_owned() }))
        }
        "image" => {
            let data = word("base64").or_else(|| word("data"))?;
            Some(Content::Image(Image { media_type: word("mime_type")?, data }))
        }
        // A call that is in no list was withdrawn, and fragments of arguments have no meaning.
        "tool_use" | "tool_call" | "function_call" | "input_json_delta" => None,
        _ => Some(Content::Native { dialect: dialect?, value: value.clone() }),
    }
}
