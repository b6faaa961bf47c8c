//! Messages and their parts.
//!
//! Source: `pydantic_ai/messages.py` of pydantic-ai-slim 1.44.0,
//! <https://pypi.org/project/pydantic-ai-slim/1.44.0/>.

use std::collections::BTreeSet;

use brickbat_rules::Dialect;
use brickbat_rules::histories::{self, Call, CallResult, Image, Role, Thinking};
use brickbat_rules::json::Json;
use serde_json::{Value, json};

use crate::json::word;
use crate::names;
use crate::{Block, Ending, FormError, Message, Place};

/// The parsed content of a message list.
pub(in crate::stores) struct History {
    /// The messages. A request becomes one message for each run of parts with the same role.
    pub(in crate::stores) messages: Vec<Message>,
    /// The kinds of entries that were skipped.
    pub(in crate::stores) unknown: BTreeSet<String>,
    /// The dialect of the last response with a known provider.
    pub(in crate::stores) dialect: Option<Dialect>,
    /// The model of the last response.
    pub(in crate::stores) model: Option<String>,
    /// The number of requests and responses.
    pub(in crate::stores) n_records: usize,
    /// True if 2.x wrote the list, which adds a state to requests.
    pub(in crate::stores) is_of_2: bool,
}

/// Returns whether a value is a list of requests and responses, with at least one part that has a kind.
pub(in crate::stores) fn is_history(list: Json<'_, '_>) -> bool {
    let mut n_parts = 0;
    let is_message = |message: Json<'_, '_>| {
        let [kind, parts] = message.pick(["kind", "parts"]);
        let is_kind = kind.is_some_and(|kind| kind.is("request") || kind.is("response"));
        let Some(parts) = parts.filter(|parts| is_kind && parts.is_array()) else { return false };
        parts.items().all(|part| {
            n_parts += 1;
            part.field("part_kind").is_str()
        })
    };
    list.is_array() && list.items().all(is_message) && n_parts > 0
}

/// The messages of the list at the pointer `base`.
///
/// # Errors
///
/// A part of a kind that 1.x does not have, or an entry that is not a message.
pub(in crate::stores) fn history(list: Json<'_, '_>, base: &str) -> Result<History, FormError> {
    let providers = list.items().filter(|message| message.field("kind").is("response"));
    let last = providers.filter(|message| message.field("provider_name").is_str()).last();
    let provider = last.map(|message| text(message, "provider_name")).unwrap_or_default();
    let mut reader = Reader { provider, messages: Vec::new(), unknown: BTreeSet::new() };
    let mut model = None;
    let mut n_records = 0;
    let (mut is_after_local, mut is_of_2) = (false, false);
    for (n, entry) in list.items().enumerate() {
        n_records += 1;
        let place = in_file(entry, format!("{base}/{n}"));
        let kind = entry.field("kind");
        // tunacode keeps its own notes in the list, and never sends them.
        if entry.get("thought").is_some() {
            reader.unknown.insert("thought".to_owned());
        } else if kind.is("request") {
            is_after_local = false;
            is_of_2 |= entry.get("state").is_some();
            reader.request(entry, &place)?;
        } else if kind.is("response") {
            let is_local = is_local(entry);
            reader.response(entry, &place, is_local && is_after_local)?;
            is_after_local = is_local;
            if entry.field("model_name").is_str() {
                model = Some(text(entry, "model_name"));
            }
        } else {
            return Err(FormError::Entry(n));
        }
    }
    let dialect = last.and_then(|message| dialect(message, &reader.provider));
    Ok(History { messages: reader.messages, unknown: reader.unknown, dialect, model, n_records, is_of_2 })
}

/// Returns whether a response came from no provider. `_clean_message_history` joins adjacent responses of
/// this kind.
fn is_local(response: Json<'_, '_>) -> bool {
    response
        .pick(["provider_response_id", "provider_name", "model_name"])
        .into_iter()
        .flatten()
        .all(Json::is_null)
}

/// The state of the reader.
struct Reader {
    /// The provider of the last response. Thinking that another provider signed is plain text for this one.
    provider: String,
    messages: Vec<Message>,
    unknown: BTreeSet<String>,
}

impl Reader {
    fn request(&mut self, entry: Json<'_, '_>, place: &Place) -> Result<(), FormError> {
        let first = self.messages.len();
        for (n, part) in entry.field("parts").items().enumerate() {
            let at = in_file(part, format!("{}/parts/{n}", place.pointer));
            let (role, blocks) = self.part_of_request(part, at)?;
            match self.messages[first..].last_mut() {
                Some(last) if last.role == role => last.blocks.extend(blocks),
                _ => self.messages.push(message(role, blocks, place)),
            }
        }
        // Even a request without parts ends the response before it.
        if self.messages.len() == first {
            self.messages.push(message(Role::User, Vec::new(), place));
        }
        let ending = ending(entry);
        self.messages[first..].iter_mut().for_each(|message| message.ending = ending);
        Ok(())
    }

    fn part_of_request(&mut self, part: Json<'_, '_>, at: Place) -> Result<(Role, Vec<Block>), FormError> {
        let content = part.field("content");
        let kind = part.field("part_kind").as_str().unwrap_or_default();
        Ok(match kind.as_ref() {
            "system-prompt" => (Role::System, vec![block(at, words(content))]),
            "user-prompt" => (Role::User, self.prompt(content, at)),
            "tool-return" => {
                let outcome = text(part, "outcome");
                let is_error = matches!(outcome.as_str(), "failed" | "denied" | "interrupted");
                (Role::Tool, vec![block(at, result(part, is_error))])
            }
            // Without a tool, it is feedback on the model's text instead of a result.
            "retry-prompt" if part.field("tool_name").is_null() => {
                (Role::User, vec![block(at, words(content))])
            }
            "retry-prompt" => (Role::Tool, vec![block(at, result(part, true))]),
            other => return Err(FormError::Part(word(other))),
        })
    }

    /// The content of a user prompt: a text, or a list of texts and files.
    fn prompt(&mut self, content: Json<'_, '_>, at: Place) -> Vec<Block> {
        if !content.is_array() {
            return vec![block(at, words(content))];
        }
        let mut blocks = Vec::new();
        for (n, item) in content.items().enumerate() {
            let place = in_file(item, format!("{}/content/{n}", at.pointer));
            if let Some(content) = self.file(item) {
                blocks.push(block(place, content));
            }
        }
        blocks
    }

    /// A text or a file of the user. A file that is not stored as an image becomes its kind as text, so that
    /// its message is not empty.
    fn file(&mut self, item: Json<'_, '_>) -> Option<histories::Block> {
        let media_type = text(item, "media_type");
        let kind = text(item, "kind");
        match kind.as_str() {
            _ if item.is_str() => Some(words(item)),
            "cache-point" => None,
            "binary" if media_type.starts_with("image/") => {
                Some(histories::Block::Image(Image { media_type, data: text(item, "data") }))
            }
            _ => {
                let kind = word(&kind);
                self.unknown.insert(kind.clone());
                Some(histories::Block::Text(format!("[{kind}]")))
            }
        }
    }

    fn response(&mut self, entry: Json<'_, '_>, place: &Place, is_joined: bool) -> Result<(), FormError> {
        let provider = text(entry, "provider_name");
        let mut blocks = Vec::new();
        // Gemini's signature of a thought belongs to the part after it.
        let mut carried = None;
        for (n, part) in entry.field("parts").items().enumerate() {
            let at = in_file(part, format!("{}/parts/{n}", place.pointer));
            let before = std::mem::take(&mut carried);
            let kind = part.field("part_kind").as_str().unwrap_or_default();
            let content = match kind.as_ref() {
                "text" => words(part.field("content")),
                "thinking" => {
                    let thinking = self.thinking(part);
                    carried = thinking.signature.clone();
                    histories::Block::Thinking(thinking)
                }
                "tool-call" => {
                    let own = text(part.field("provider_details"), "thought_signature");
                    let own = Some(own).filter(|own| !own.is_empty() && provider == self.provider);
                    histories::Block::Call(call(part, own.or(before)))
                }
                "builtin-tool-call" | "builtin-tool-return" => match self.server_tool(part, kind.as_ref()) {
                    Some(value) => histories::Block::Native { dialect: Dialect::AnthropicMessages, value },
                    None => continue,
                },
                // "Files generated by models are not sent back to models that don't themselves generate files."
                "file" => continue,
                other => return Err(FormError::Part(word(other))),
            };
            blocks.push(block(at, content));
        }
        let ending = ending(entry);
        match self.messages.last_mut() {
            Some(last) if is_joined && last.role == Role::Assistant => last.blocks.extend(blocks),
            _ => self.messages.push(Message { ending, ..message(Role::Assistant, blocks, place) }),
        }
        Ok(())
    }

    fn thinking(&self, part: Json<'_, '_>) -> Thinking {
        let is_own = self.provider == text(part, "provider_name") && !self.provider.is_empty();
        let signature = part.field("signature").as_str().filter(|signature| is_own && !signature.is_empty());
        let id = part.field("id").as_str().filter(|id| is_own && !id.is_empty());
        Thinking {
            text: text(part, "content"),
            signature: signature.map(|signature| signature.into_owned()),
            id: id.map(|id| id.into_owned()),
        }
    }

    /// A tool that Anthropic runs, as `AnthropicModel._map_message` writes it. Tools that other providers run
    /// are not rendered.
    fn server_tool(&mut self, part: Json<'_, '_>, kind: &str) -> Option<Value> {
        let name = text(part, "tool_name");
        let id = text(part, "tool_call_id");
        let is_known = matches!(name.as_str(), "web_search" | "code_execution" | "web_fetch");
        if self.provider != "anthropic" || text(part, "provider_name") != "anthropic" || !is_known {
            self.unknown.insert(kind.to_owned());
            return None;
        }
        let input = || serde_json::from_str(&arguments(part.field("args"))).unwrap_or_else(|_| json!({}));
        Some(match kind {
            "builtin-tool-call" => {
                json!({ "type": "server_tool_use", "id": id, "name": name, "input": input() })
            }
            _ => json!({
                "type": format!("{name}_tool_result"),
                "tool_use_id": id,
                "content": part.field("content").to_value(),
            }),
        })
    }
}

/// The dialect of a provider, by the name that pydantic-ai gives it. `None` if the name is unknown.
pub(in crate::stores) fn dialect_of(provider: &str) -> Option<Dialect> {
    names::dialect_of(|names| names.pydantic_ai, provider, "")
}

/// The dialect of a response. OpenAI's two APIs share a provider name but have different response ids.
fn dialect(response: Json<'_, '_>, provider: &str) -> Option<Dialect> {
    let is_responses = text(response, "provider_response_id").starts_with("resp_");
    let dialect = dialect_of(provider);
    let may_be_either = dialect == dialect_of("openai");
    if may_be_either && is_responses { dialect_of("openai-responses") } else { dialect }
}

fn call(part: Json<'_, '_>, signature: Option<String>) -> Call {
    let (id, item) = split(text(part, "tool_call_id"));
    let item = item.or_else(|| part.field("id").as_str().map(|id| id.into_owned()));
    Call { signature, item, ..Call::new(id, text(part, "tool_name"), arguments(part.field("args"))) }
}

fn result(part: Json<'_, '_>, is_error: bool) -> histories::Block {
    let (call, _) = split(text(part, "tool_call_id"));
    let output = vec![words(part.field("content"))];
    histories::Block::Result(CallResult {
        is_error,
        ..CallResult::new(call, text(part, "tool_name"), output)
    })
}

/// The call id and the item id. The Responses model joins the two with a bar
/// (`_split_combined_tool_call_id`).
fn split(id: String) -> (String, Option<String>) {
    match id.split_once('|') {
        Some((call, item)) => (call.to_owned(), Some(item.to_owned())),
        None => (id, None),
    }
}

/// Arguments as JSON text. They are stored as text or as an object.
fn arguments(args: Json<'_, '_>) -> String {
    match args.as_str() {
        Some(text) => text.into_owned(),
        None if args.is_null() => String::new(),
        None => args.raw().to_owned(),
    }
}

/// A content as text. Any other value is sent as JSON.
fn words(content: Json<'_, '_>) -> histories::Block {
    histories::Block::Text(
        content.as_str().map_or_else(|| content.raw().to_owned(), |text| text.into_owned()),
    )
}

fn text(value: Json<'_, '_>, key: &str) -> String {
    value.field(key).as_str().map(|text| text.into_owned()).unwrap_or_default()
}

fn ending(entry: Json<'_, '_>) -> Ending {
    match text(entry, "state").as_str() {
        "interrupted" | "incomplete" => Ending::Aborted,
        _ => Ending::Whole,
    }
}

fn message(role: Role, blocks: Vec<Block>, place: &Place) -> Message {
    Message { role, blocks, id: None, place: place.clone(), ending: Ending::Whole }
}

fn block(place: Place, content: histories::Block) -> Block {
    Block { place, content, state: None }
}

fn in_file(value: Json<'_, '_>, pointer: String) -> Place {
    let span = value.span();
    Place::in_file(span.start as u64..span.end as u64, pointer)
}
