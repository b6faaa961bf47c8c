//! Qwen Code: JSONL, a tree of `uuid` and `parentUuid`, with Gemini contents in `message`.
//!
//! The last line is the leaf. Lines with the same `uuid` are one message, with their parts in order. The last
//! `chat_compression` of the branch contains the history that replaces everything before it. If two records
//! share a line, both are read. Source: `packages/core/src/services/sessionService.ts` and
//! `chatRecordingService.ts` of the package `@qwen-code/qwen-code` 0.15.10,
//! <https://github.com/QwenLM/qwen-code>.

mod send;
mod write;

#[cfg(test)]
mod tests;

use brickbat_rules::Dialect;
use brickbat_rules::histories::{self, Role};
use serde_json::Value;

use super::gemini_parts::block;
use super::records::{self, Record};
use super::tree::{Keys, Tree, Which};
use super::{Edit, Look, ReadError, Store, WriteError};
use crate::clients::{self, Quirk};
use crate::json::{self, text};
use crate::names;
use crate::{Block, Ending, Files, FormError, Message, Product, Sent, Session, Trouble};

pub(crate) struct QwenCode;

const KEYS: Keys = Keys { id: "uuid", parent: "parentUuid" };
impl Store for QwenCode {
    fn owns(&self, look: &Look<'_>) -> bool {
        look.is_headed(|line| line.field("uuid").is_str() && is_record(&line.to_value()))
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        let (tree, n_records, troubles) = log(files.main());
        session(&tree, n_records, troubles, files.main()).map(|session| vec![session])
    }

    fn send(&self, session: &Session) -> Sent {
        send::send(session)
    }

    /// Only the converter to Chat Completions removes unanswered calls.
    fn fills_open_tail(&self, session: &Session) -> Option<&'static str> {
        let removes = clients::of(session.dialect).have(Quirk::QwenCodeRemovesOrphans);
        removes.then_some("leaves calls without a result out")
    }

    fn write(&self, files: &Files, _: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
        write::write(files, edits)
    }
}

/// Claude Code's lines have the same ids, but its messages have `content` where Qwen Code's have `parts`.
fn is_record(value: &Value) -> bool {
    let is_text = |key: &str| value.get(key).is_some_and(Value::is_string);
    let has_ids = is_text("uuid") && value.get("parentUuid").is_some() && is_text("sessionId");
    let says = match text(value, "type") {
        "user" | "assistant" | "tool_result" => value.pointer("/message/parts").is_some_and(Value::is_array),
        "system" => {
            let known =
                ["chat_compression", "slash_command", "ui_telemetry", "at_command", "custom_title", "rewind"];
            let own = ["attribution_snapshot", "file_history_snapshot", "session_artifact_event"];
            known.contains(&text(value, "subtype")) && value.get("systemPayload").is_some()
                || own.contains(&text(value, "subtype"))
        }
        _ => false,
    };
    has_ids && says
}

/// The tree of a file, the number of its records, and its unreadable parts.
fn log(bytes: &[u8]) -> (Tree, usize, Vec<Trouble>) {
    let (mut records, mut troubles) = (Vec::new(), Vec::new());
    for line in json::lines(bytes) {
        match json::parse(line.bytes) {
            Some(value) => records.push(Record::of_line(&line, value)),
            None => match glued(&line) {
                own if own.is_empty() => {
                    records.extend(records::between_nul(&line));
                    troubles.push(records::trouble(&line));
                }
                own => records.extend(own),
            },
        }
    }
    let n_records = records.len();
    (Tree::of(records, KEYS, Which::First), n_records, troubles)
}

/// The records of a line that contains several of them without line ends (`parseLineTolerant`). Empty if the
/// line contains anything else.
fn glued(line: &json::Line<'_>) -> Vec<Record> {
    let mut records = Vec::new();
    let mut values = serde_json::Deserializer::from_slice(line.bytes).into_iter::<Value>();
    let mut at = 0;
    while let Some(value) = values.next() {
        let Ok(value @ Value::Object(_)) = value else { return Vec::new() };
        let span = line.start + at..line.start + values.byte_offset();
        at = values.byte_offset();
        records.push(Record { value, line: Some(line.n), span, pointer: String::new() });
    }
    records
}

fn session(
    tree: &Tree,
    n_records: usize,
    troubles: Vec<Trouble>,
    bytes: &[u8],
) -> Result<Session, ReadError> {
    let mut session = Session {
        dialect: Some(Dialect::OpenaiChat),
        n_records,
        n_forks: tree.n_forks,
        troubles: [troubles.as_slice(), &tree.troubles].concat(),
        cut: tree.cut.clone(),
        ..Session::new(Product::QwenCode, "JSONL tree", "the last line and its parents")
    };
    for record in &tree.records {
        let own = |key: &str| record.value.get(key).and_then(Value::as_str).map(str::to_owned);
        session.id = own("sessionId").or(session.id);
        session.version = own("version").filter(|version| version != "unknown").or(session.version);
        if let Some(dialect) =
            record.value.pointer("/systemPayload/uiEvent/auth_type").and_then(Value::as_str)
        {
            session.dialect = names::dialect_of(|names| names.qwen_code, dialect, "");
        }
    }
    let is_compression =
        |id: &String| tree.lines(id).next().is_some_and(|record| compressed(record).is_some());
    let compression = tree.path.iter().rposition(is_compression);
    for (n, id) in tree.path.iter().enumerate() {
        if Some(n) == compression {
            session.off_branch.append(&mut session.messages);
            session.n_compactions += 1;
            for record in tree.lines(id).next().iter().flat_map(|record| record.items(bytes, COMPRESSED)) {
                session.messages.push(content(&record, "", id)?);
            }
            continue;
        }
        if let Some(message) = message(tree, id, &mut session.unknown)? {
            session.messages.push(message);
        }
        let model = tree.lines(id).find_map(|record| record.value.get("model").and_then(Value::as_str));
        session.model = model.map(str::to_owned).or(session.model);
    }
    // Messages off the branch are never sent, so an unknown form is harmless.
    let off_branch = tree.off_branch().filter(|record| record.value.get("message").is_some());
    let off_branch = off_branch.filter_map(|record| content(record, "/message", record.text(KEYS.id)).ok());
    session.off_branch.extend(off_branch);
    Ok(session)
}

/// The pointer to the history in a compression.
const COMPRESSED: &str = "/systemPayload/compressedHistory";

fn compressed(record: &Record) -> Option<&Value> {
    let is_own = record.text("type") == "system" && record.text("subtype") == "chat_compression";
    record.value.pointer(COMPRESSED).filter(|history| is_own && history.is_array())
}

/// The message of all lines with an id. `None` if they are bookkeeping.
fn message(tree: &Tree, id: &str, unknown: &mut Vec<String>) -> Result<Option<Message>, ReadError> {
    let mut whole: Option<Message> = None;
    for record in tree.lines(id) {
        if record.value.get("message").is_none_or(Value::is_null) {
            let words = "a line of another type";
            let is_known = matches!(record.text("type"), "user" | "assistant" | "tool_result" | "system");
            if !is_known && !unknown.iter().any(|known| known == words) {
                unknown.push(words.to_owned());
            }
            continue;
        }
        let own = content(record, "/message", id)?;
        match &mut whole {
            Some(whole) => whole.blocks.extend(own.blocks),
            None => whole = Some(own),
        }
    }
    Ok(whole)
}

/// A message from a Gemini content.
fn content(record: &Record, at: &str, id: &str) -> Result<Message, ReadError> {
    let value = if at.is_empty() { &record.value } else { record.value.pointer(at).unwrap_or(&Value::Null) };
    let parts = match value.get("parts") {
        Some(Value::Array(parts)) => parts.as_slice(),
        None | Some(Value::Null) => &[],
        _ => return Err(FormError::Shape("a message whose parts are not a list").of(Product::QwenCode)),
    };
    let blocks: Vec<Block> = parts
        .iter()
        .enumerate()
        .map(|(n, part)| Block {
            place: record.place(&format!("{at}/parts/{n}")),
            content: block(part),
            state: None,
        })
        .collect();
    let has_result = blocks.iter().any(|block| matches!(block.content, histories::Block::Result(_)));
    let role = match (text(value, "role"), has_result) {
        ("model", _) => Role::Assistant,
        ("user", true) => Role::Tool,
        ("user", false) => Role::User,
        _ => return Err(FormError::Shape("a message with an unknown role").of(Product::QwenCode)),
    };
    Ok(Message { role, blocks, id: Some(id.to_owned()), place: record.place(""), ending: Ending::Whole })
}
