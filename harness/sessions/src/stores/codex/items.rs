//! Items of the Responses API, as a rollout stores them.
//!
//! Source: `ResponseItem` in `codex-rs/protocol/src/models.rs` of <https://github.com/openai/codex>.

use brickbat_rules::Dialect;
use brickbat_rules::histories::{self, Call, CallResult, Image, Role, Thinking};
use brickbat_rules::json::Json;
use serde_json::Value;

use crate::json::word;
use crate::{Block, Ending, Message, Place};

/// An item in the conversation.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) message: Message,
    pub(super) standing: Standing,
}

/// The meaning of an item for rollbacks and compactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// The beginning of a user turn.
    Turn,
    /// Context that Codex adds before a turn: the environment, instructions.
    Context,
    /// The summary from a compaction.
    Summary,
    Other,
}

/// The reason why an item is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Strange {
    /// An unknown type.
    Kind(String),
    /// Codex itself cannot read the item and skips it. The text describes the defect.
    Lacks(&'static str),
    /// Items of this kind are never sent.
    Unsent(String),
}

/// The position of a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    /// The index of its file.
    pub(super) file: usize,
    pub(super) line: u64,
    /// The offset of its first byte in the rollout.
    pub(super) start: usize,
}

impl At {
    pub(super) fn place(self, value: Json<'_, '_>, pointer: String) -> Place {
        let span = value.span();
        let span = (self.start + span.start) as u64..(self.start + span.end) as u64;
        Place { file: self.file, ..Place::in_line(self.line, span, pointer) }
    }
}

/// The types of calls and outputs other than function calls. They are stored in [`Block::state`].
pub(super) const CUSTOM: &str = "custom_tool_call";
pub(super) const CUSTOM_OUTPUT: &str = "custom_tool_call_output";
pub(super) const SHELL: &str = "local_shell_call";
pub(super) const SEARCH: &str = "tool_search_call";
pub(super) const SEARCH_OUTPUT: &str = "tool_search_output";

/// Pairs of marks around the text that Codex itself writes in the role of the user
/// (`codex-rs/core/src/context/contextual_user_message.rs`).
const USER_MARKS: [(&str, &str); 9] = [
    ("# agents.md instructions", "</instructions>"),
    ("<environment_context>", "</environment_context>"),
    ("<user_instructions>", "</user_instructions>"),
    ("<skill>", "</skill>"),
    ("<user_shell_command>", "</user_shell_command>"),
    ("<turn_aborted>", "</turn_aborted>"),
    ("<subagent_notification>", "</subagent_notification>"),
    ("<goal_context>", "</goal_context>"),
    ("<agents_instructions>", "</agents_instructions>"),
];

/// The beginnings of its texts in the role of the developer (`codex-rs/core/src/event_mapping.rs`).
const DEVELOPER_MARKS: [&str; 8] = [
    "<permissions instructions>",
    "<model_switch>",
    "<collaboration_mode>",
    "<realtime_conversation>",
    "<skills_instructions>",
    "<personality_spec>",
    "<token_budget>",
    "<rollout_budget>",
];

/// The beginning of a summary (`codex-rs/core/templates/compact/summary_prefix.md`).
const SUMMARY_START: &str = "Another language model started to solve this problem";

/// The item at a pointer of a line.
pub(super) fn item(item: Json<'_, '_>, at: At, pointer: String) -> Result<Item, Strange> {
    let place = at.place(item, pointer);
    let kind = text(item, "type");
    let one = |role, content, state: Option<&str>| Item {
        message: Message {
            role,
            blocks: vec![Block { place: place.clone(), content, state: state.map(str::to_owned) }],
            id: None,
            place: place.clone(),
            ending: Ending::Whole,
        },
        standing: Standing::Other,
    };
    let native =
        || histories::Block::Native { dialect: Dialect::OpenaiResponses, value: bare(item.to_value()) };
    Ok(match kind.as_str() {
        "message" => message(item, at, &place)?,
        "reasoning" => one(Role::Assistant, reasoning(item), None),
        "function_call" => one(Role::Assistant, call(item, "name", text(item, "arguments"))?, None),
        "custom_tool_call" => one(Role::Assistant, call(item, "name", text(item, "input"))?, Some(CUSTOM)),
        "local_shell_call" => {
            let action = item.field("action").raw().to_owned();
            one(Role::Assistant, call(item, "type", action)?, Some(SHELL))
        }
        // The server answers its own searches.
        "tool_search_call" | "tool_search_output" if is_of_server(item) => {
            one(Role::Assistant, native(), None)
        }
        "tool_search_call" => {
            let arguments = item.field("arguments").raw().to_owned();
            one(Role::Assistant, call(item, "type", arguments)?, Some(SEARCH))
        }
        "function_call_output" => one(Role::Tool, output(item)?, None),
        "custom_tool_call_output" => one(Role::Tool, output(item)?, Some(CUSTOM_OUTPUT)),
        "tool_search_output" => {
            let (call, output) = (call_id(item)?, vec![native()]);
            let result = CallResult { item: own_id(item), ..CallResult::new(call, "", output) };
            one(Role::Tool, histories::Block::Result(result), Some(SEARCH_OUTPUT))
        }
        "web_search_call"
        | "image_generation_call"
        | "compaction"
        | "compaction_summary"
        | "context_compaction" => one(Role::Assistant, native(), None),
        "additional_tools" => one(Role::User, native(), None),
        "agent_message" => Item { standing: Standing::Turn, ..one(Role::User, native(), None) },
        "ghost_snapshot" | "compaction_trigger" | "configuration_update" | "other" => {
            return Err(Strange::Unsent(kind));
        }
        "" => return Err(Strange::Lacks("an item without a type")),
        _ => return Err(Strange::Kind(word(&kind))),
    })
}

/// Text without a separate item: a summary, or a message of another agent.
pub(super) fn spoken(words: String, place: Place, standing: Standing) -> Item {
    let blocks = vec![Block { place: place.clone(), content: histories::Block::Text(words), state: None }];
    Item { message: Message { role: Role::User, blocks, id: None, place, ending: Ending::Whole }, standing }
}

fn message(item: Json<'_, '_>, at: At, place: &Place) -> Result<Item, Strange> {
    let role = text(item, "role");
    let content = item.field("content");
    let mut blocks = Vec::new();
    if let Some(words) = content.as_str() {
        let content = histories::Block::Text(words.into_owned());
        blocks.push(Block { place: place.clone(), content, state: None });
    }
    for (n, part) in content.items().enumerate() {
        let place = at.place(part, format!("{}/content/{n}", place.pointer));
        blocks.push(Block { place, content: said(part), state: None });
    }
    let (role, standing) = match role.as_str() {
        "assistant" => (Role::Assistant, Standing::Other),
        "user" => (Role::User, of_user(&blocks)),
        "developer" => (Role::System, of_developer(&blocks)),
        // `is_api_message`: items with the role `system` do not enter the history.
        "system" => return Err(Strange::Unsent("message of the system".to_owned())),
        "" => return Err(Strange::Lacks("a message without a role")),
        other => return Err(Strange::Kind(format!("message of {}", word(other)))),
    };
    let id = own_id(item);
    Ok(Item { message: Message { role, blocks, id, place: place.clone(), ending: Ending::Whole }, standing })
}

/// A part of a message. If it is neither a text nor a stored image, its type is used as text, so that no
/// message is empty.
fn said(part: Json<'_, '_>) -> histories::Block {
    let kind = text(part, "type");
    match kind.as_str() {
        "input_text" | "output_text" | "text" => histories::Block::Text(text(part, "text")),
        "input_image" => match image(&text(part, "image_url")) {
            Some(image) => histories::Block::Image(image),
            None => histories::Block::Text("[input_image]".to_owned()),
        },
        other => histories::Block::Text(format!("[{}]", word(other))),
    }
}

fn image(url: &str) -> Option<Image> {
    let (media_type, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    Some(Image { media_type: media_type.to_owned(), data: data.to_owned() })
}

fn of_user(blocks: &[Block]) -> Standing {
    let is_marked = |words: &str| {
        let words = words.trim();
        USER_MARKS.iter().any(|(start, end)| begins(words, start) && ends(words, end))
    };
    if texts(blocks).any(is_marked) {
        Standing::Context
    } else if texts(blocks).any(|words| words.starts_with(SUMMARY_START)) {
        Standing::Summary
    } else {
        Standing::Turn
    }
}

fn of_developer(blocks: &[Block]) -> Standing {
    let is_marked = |words: &str| DEVELOPER_MARKS.iter().any(|start| begins(words.trim_start(), start));
    if texts(blocks).any(is_marked) { Standing::Context } else { Standing::Other }
}

fn texts(blocks: &[Block]) -> impl Iterator<Item = &str> {
    blocks.iter().filter_map(|block| match &block.content {
        histories::Block::Text(words) => Some(words.as_str()),
        _ => None,
    })
}

fn begins(words: &str, start: &str) -> bool {
    words.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start))
}

fn ends(words: &str, end: &str) -> bool {
    let at = words.len().checked_sub(end.len());
    at.and_then(|at| words.get(at..)).is_some_and(|found| found.eq_ignore_ascii_case(end))
}

/// Thinking with an id. The item is kept as JSON without an id, as in older versions, and with a `content` that Codex sends:
/// the fields of [`Thinking`] have no place for it.
fn reasoning(item: Json<'_, '_>) -> histories::Block {
    let id = text(item, "id");
    let sends_content = sends_content(item);
    if id.is_empty() || sends_content {
        let mut value = bare(item.to_value());
        if let Value::Object(fields) = &mut value {
            fields.retain(|name, _| name != "content" || sends_content);
        }
        return histories::Block::Native { dialect: Dialect::OpenaiResponses, value };
    }
    let summary: Vec<String> = item.field("summary").items().map(|part| text(part, "text")).collect();
    let signature = item.field("encrypted_content").as_str().map(|content| content.into_owned());
    histories::Block::Thinking(Thinking { text: summary.join("\n"), signature, id: Some(id) })
}

/// Codex sends the text of a thought only if a part of it is a `reasoning_text`
/// (`should_serialize_reasoning_content`, which is named for the opposite).
fn sends_content(item: Json<'_, '_>) -> bool {
    item.field("content").items().any(|part| part.field("type").is("reasoning_text"))
}

fn call(item: Json<'_, '_>, name: &str, arguments: String) -> Result<histories::Block, Strange> {
    let (id, name) = (call_id(item)?, text(item, name));
    Ok(histories::Block::Call(Call { item: own_id(item), ..Call::new(id, name, arguments) }))
}

fn output(item: Json<'_, '_>) -> Result<histories::Block, Strange> {
    let output = item.field("output");
    // Older versions write `{content, success}`.
    let body = output.get("content").unwrap_or(output);
    let content = match body.as_str() {
        Some(words) => vec![histories::Block::Text(words.into_owned())],
        None => body.items().map(said).collect(),
    };
    let is_error = output.field("success").as_bool() == Some(false);
    let (call, name) = (call_id(item)?, text(item, "name"));
    Ok(histories::Block::Result(CallResult {
        is_error,
        item: own_id(item),
        ..CallResult::new(call, name, content)
    }))
}

fn is_of_server(item: Json<'_, '_>) -> bool {
    item.field("execution").is("server")
}

fn call_id(item: Json<'_, '_>) -> Result<String, Strange> {
    let id = item.field("call_id").as_str();
    id.map(|id| id.into_owned()).ok_or(Strange::Lacks("a call or an output without its call_id"))
}

/// The id with which the item itself is sent. Versions that send none store none.
fn own_id(item: Json<'_, '_>) -> Option<String> {
    item.field("id").as_str().filter(|id| !id.is_empty()).map(|id| id.into_owned())
}

/// The value without its null fields, which Codex sometimes writes for missing ones.
fn bare(mut value: Value) -> Value {
    if let Value::Object(fields) = &mut value {
        fields.retain(|_, value| !value.is_null());
    }
    value
}

pub(super) fn text(value: Json<'_, '_>, key: &str) -> String {
    value.field(key).as_str().map(|text| text.into_owned()).unwrap_or_default()
}
