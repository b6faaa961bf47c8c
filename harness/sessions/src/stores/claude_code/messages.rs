//! Converts lines into messages and blocks.

use std::collections::BTreeMap;

use brickbat_rules::Dialect;
use brickbat_rules::histories::{self, Call, CallResult, Image, Role, Thinking};
use brickbat_rules::json::{Document, Json};

use super::branch::Branch;
use super::items::Item;
use super::line::{Kind, Record, text};
use super::tree::Tree;
use crate::stores::ReadError;
use crate::{Block, Ending, FormError, Message, Place, Product, RecordedRefusal, Session, Trouble};

/// The messages of the branch. The lines of one reply are one message, and so are consecutive results.
pub(super) fn of_branch(bytes: &[u8], tree: &Tree, branch: &Branch) -> Result<Vec<Message>, ReadError> {
    let mut messages: Vec<Message> = Vec::new();
    for item in &branch.items {
        let (reply, lines) = match item {
            Item::Reply(reply) => (reply.lines.as_slice(), reply.results.as_slice()),
            Item::Line(at) => (&[][..], std::slice::from_ref(at)),
        };
        let mut whole: Option<Message> = None;
        for at in reply {
            for message in known(bytes, &tree.records[*at])? {
                match &mut whole {
                    Some(whole) => whole.blocks.extend(message.blocks),
                    None => whole = Some(message),
                }
            }
        }
        messages.extend(whole);
        for at in lines {
            for message in known(bytes, &tree.records[*at])? {
                match messages.last_mut() {
                    Some(last) if last.role == Role::Tool && message.role == Role::Tool => {
                        last.blocks.extend(message.blocks);
                    }
                    _ => messages.push(message),
                }
            }
        }
    }
    Ok(messages)
}

/// The refusal that the last reply is, in the words that Claude Code shows: `API Error: 400`, and the provider's error.
pub(super) fn refused(bytes: &[u8], tree: &Tree) -> Option<RecordedRefusal> {
    let is_reply =
        |record: &&Record| record.kind == Kind::Assistant && !record.is_sidechain && !record.is_team;
    let last = tree.records.iter().rfind(is_reply).filter(|record| record.is_api_error)?;
    let document = Document::parse(&bytes[last.span.clone()]).ok()?;
    let content = document.root().field("message").field("content");
    let words = content.as_str().map(|words| words.into_owned()).or_else(|| text(content.item(0), "text"))?;
    let place = place(last, document.root(), String::new());
    words.starts_with("API Error: 400").then_some(RecordedRefusal { words, place })
}

/// The messages of a line on the branch. Their form must be known.
fn known(bytes: &[u8], record: &Record) -> Result<Vec<Message>, ReadError> {
    if record.is_known {
        return Ok(of_line(bytes, record, 0));
    }
    let kind = match record.kind {
        Kind::User => "a line of the user",
        Kind::Assistant => "a line of the model",
        _ => "a line with a message",
    };
    Err(FormError::Line(record.line, kind).of(Product::ClaudeCode))
}

/// The messages of a line: one, or two if results and user text share the line. Lines that are not messages,
/// and lines without blocks, have none.
pub(super) fn of_line(bytes: &[u8], record: &Record, file: usize) -> Vec<Message> {
    let Ok(document) = Document::parse(&bytes[record.span.clone()]) else { return Vec::new() };
    let line = document.root();
    let (role, content, pointer) = match record.kind {
        Kind::User => (Role::User, line.field("message").field("content"), "/message/content"),
        Kind::Assistant => (Role::Assistant, line.field("message").field("content"), "/message/content"),
        Kind::LocalCommand => (Role::User, line.field("content"), "/content"),
        Kind::Boundary | Kind::Link => return Vec::new(),
    };
    let place = |value: Json, pointer: String| Place { file, ..place(record, value, pointer) };
    let blocks: Vec<Block> = match content.as_str() {
        Some(words) => vec![Block {
            place: place(content, pointer.to_owned()),
            content: histories::Block::Text(words.into_owned()),
            state: None,
        }],
        None => {
            let blocks = content.items().enumerate().map(|(n, value)| Block {
                place: place(value, format!("{pointer}/{n}")),
                content: block(value, role),
                state: None,
            });
            blocks.collect()
        }
    };
    let is_result = |block: &Block| matches!(block.content, histories::Block::Result(_));
    let (results, rest): (Vec<Block>, Vec<Block>) = blocks.into_iter().partition(is_result);
    let of_role = |(role, blocks)| Message {
        role,
        blocks,
        id: record.message_id.clone().or_else(|| Some(record.uuid.clone())),
        place: place(line, String::new()),
        ending: if record.is_api_error { Ending::Failed } else { Ending::Whole },
    };
    let messages = [(Role::Tool, results), (role, rest)].map(of_role).into_iter();
    messages.filter(|message| !message.blocks.is_empty()).collect()
}

/// The place of a value in a line.
pub(super) fn place(record: &Record, value: Json, pointer: String) -> Place {
    let (start, span) = (record.span.start, value.span());
    Place::in_line(record.line, (start + span.start) as u64..(start + span.end) as u64, pointer)
}

/// A block in the common form. A block that only Anthropic has, or that lacks a field, is kept as JSON.
fn block(value: Json, role: Role) -> histories::Block {
    let kind = value.field("type").as_str().unwrap_or_default();
    let common = match (&*kind, role) {
        ("text", _) if value.field("citations").is_null() => text(value, "text").map(histories::Block::Text),
        ("thinking", Role::Assistant) => text(value, "thinking").map(|words| {
            let signature = text(value, "signature");
            histories::Block::Thinking(Thinking { text: words, signature, id: None })
        }),
        ("tool_use", Role::Assistant) => call(value),
        ("tool_result", Role::User) => result(value),
        ("image", _) => image(value),
        _ => None,
    };
    let native = || histories::Block::Native { dialect: Dialect::AnthropicMessages, value: value.to_value() };
    common.unwrap_or_else(native)
}

fn call(value: Json) -> Option<histories::Block> {
    let (id, name) = (text(value, "id")?, text(value, "name")?);
    let arguments = value.get("input")?.raw().to_owned();
    Some(histories::Block::Call(Call::new(id, name, arguments)))
}

fn result(value: Json) -> Option<histories::Block> {
    let call = text(value, "tool_use_id")?;
    let content = value.field("content");
    let output = match content.as_str() {
        Some(words) => vec![histories::Block::Text(words.into_owned())],
        None => content.items().map(|part| block(part, Role::Tool)).collect(),
    };
    let is_error = value.field("is_error").as_bool() == Some(true);
    Some(histories::Block::Result(CallResult { is_error, ..CallResult::new(call, "", output) }))
}

fn image(value: Json) -> Option<histories::Block> {
    let source = value.field("source");
    if !source.field("type").is("base64") {
        return None;
    }
    Some(histories::Block::Image(Image {
        media_type: text(source, "media_type")?,
        data: text(source, "data")?,
    }))
}

/// The thinking on the branch that lost its text.
pub(super) fn hollow(tree: &Tree, is_on: &[bool]) -> Vec<Trouble> {
    let hollow = tree.records.iter().zip(is_on).filter(|(record, is_on)| record.is_hollow && **is_on);
    let troubles = hollow.map(|(record, _)| Trouble {
        place: Place::in_line(
            record.line,
            record.content.start as u64..record.content.end as u64,
            "/message/content",
        ),
        words: "thinking with a signature and without its text, which the provider may refuse".to_owned(),
        loses: None,
    });
    troubles.collect()
}

/// The model of the last reply on the branch.
pub(super) fn model(bytes: &[u8], tree: &Tree, branch: &Branch) -> Option<String> {
    branch.items.iter().rev().find_map(|item| {
        let Item::Reply(reply) = item else { return None };
        let record = &tree.records[*reply.lines.last()?];
        let document = Document::parse(&bytes[record.span.clone()]).ok()?;
        text(document.root().field("message"), "model")
    })
}

/// Adds the tool name to each result.
pub(super) fn name_results(session: &mut Session) {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let messages = session.off_branch.iter().chain(&session.messages);
    for call in messages.flat_map(Message::calls) {
        names.insert(call.id.clone(), call.name.clone());
    }
    let messages = session.off_branch.iter_mut().chain(&mut session.messages);
    for block in messages.flat_map(|message| &mut message.blocks) {
        if let histories::Block::Result(result) = &mut block.content
            && let Some(name) = names.get(&result.call)
        {
            result.name.clone_from(name);
        }
    }
}
