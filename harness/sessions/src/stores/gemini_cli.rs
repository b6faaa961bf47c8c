//! Gemini CLI: a JSON file, and since 2026 JSONL with patches.
//!
//! A JSONL file begins with metadata. A message is a line with an `id`. If several lines have the same id,
//! the last one wins and keeps the position of the first. `{"$set": {"messages": […]}}` replaces all
//! messages. `{"$rewindTo": id}` removes a message and all after it, or everything if there is no such
//! message. Unreadable lines are skipped. Source: `packages/core/src/services/chatRecordingService.ts` of
//! <https://github.com/google-gemini/gemini-cli>, 0.61.0.

mod log;
mod send;
mod write;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use brickbat_rules::Dialect;
use brickbat_rules::histories::{self, Call, CallResult, Role, Thinking};
use brickbat_rules::json::Json;
use serde_json::Value;

use super::gemini_parts::{block, is_truthy};
use super::records::Record;
use super::{Edit, Look, ReadError, Relapse, Store, WriteError};
use crate::json::text;
use crate::{Block, Ending, Files, FormError, Message, Planned, Product, Reason, Sent, Session};
use log::Log;

pub(crate) struct GeminiCli;

impl Store for GeminiCli {
    fn owns(&self, look: &Look<'_>) -> bool {
        let is_metadata =
            |value: Json<'_, '_>| value.field("sessionId").is_str() && value.field("projectHash").is_str();
        look.head().iter().any(|line| is_metadata(line.root()))
            || look.is_object(|root| is_metadata(root) && root.field("messages").is_array())
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        let log = Log::read(files.main());
        session(log).map(|session| vec![session])
    }

    fn send(&self, session: &Session) -> Sent {
        send::send(session)
    }

    /// Gemini CLI hardens the history and fills calls only with the setting `experimental.contextManagement`,
    /// which is off by default (`packages/core/src/config/config.ts`, 0.61.0).
    fn fills_open_tail(&self, _: &Session) -> Option<&'static str> {
        None
    }

    fn write(&self, files: &Files, _: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
        write::write(files, edits)
    }

    fn relapse(&self, _: &Session, edits: &[Planned]) -> Option<&'static Relapse> {
        edits.iter().any(|planned| planned.reason == Reason::Duplicate).then_some(&COPIES_ANEW)
    }
}

/// Measured with 0.61.0 by `harness/nightly/products/bricked.py`, with each turn in its own process. If
/// either copy is removed, the product writes it again: the one beside the call, and the user message.
const COPIES_ANEW: Relapse = Relapse {
    words: "This repair holds for one resume: when Gemini CLI 0.60 or 0.61 loads the session, it stores the second copy of \
            each result again, and the resume after that one is refused.",
    way_out: "Until Gemini CLI fixes this, quit it and repair the session again before each resume.",
    source: "https://github.com/google-gemini/gemini-cli/issues/29365",
};

fn session(log: Log) -> Result<Session, ReadError> {
    let mut session = Session {
        id: log.session_id,
        dialect: Some(Dialect::Gemini),
        n_records: log.n_records,
        n_forks: log.n_rewinds,
        troubles: log.troubles,
        unknown: log.unknown,
        ..Session::new(
            Product::GeminiCli,
            log.generation,
            "the last record of each message, after `$set` and `$rewindTo`",
        )
    };
    for record in log.active.iter().flatten() {
        if let Some(model) = record.value.get("model").and_then(Value::as_str) {
            session.model = Some(model.to_owned());
        }
        match record.text("type") {
            "user" if is_ignored(&record.value["content"]) => session.off_branch.extend(messages(record)?),
            "user" | "gemini" => session.messages.extend(messages(record)?),
            "info" | "error" | "warning" => {}
            _ => note(&mut session.unknown, "a message of another type"),
        }
    }
    // Rewound messages are never sent, so an unknown form is harmless there.
    session.off_branch.extend(log.rewound.iter().filter_map(|record| messages(record).ok()).flatten());
    Ok(session)
}

fn note(unknown: &mut Vec<String>, words: &str) {
    if !unknown.iter().any(|known| known == words) {
        unknown.push(words.to_owned());
    }
}

/// The messages of one record: a user message, or a model message and the results in the same object.
fn messages(record: &Record) -> Result<Vec<Message>, ReadError> {
    let message = |role: Role, id: String, blocks: Vec<Block>| Message {
        role,
        blocks,
        id: Some(id),
        place: record.place(""),
        ending: Ending::Whole,
    };
    let id = record.text("id").to_owned();
    let content = content(record)?;
    if record.text("type") == "user" {
        let has_result = content.iter().any(|block| matches!(block.content, histories::Block::Result(_)));
        let role = if has_result { Role::Tool } else { Role::User };
        return Ok(vec![message(role, id, content)]);
    }
    let said = said(record, content);
    if said.is_empty() {
        return Ok(Vec::new());
    }
    let results = results(record);
    let answer = (!results.is_empty()).then(|| message(Role::Tool, format!("{id}_response"), results));
    Ok([message(Role::Assistant, id, said)].into_iter().chain(answer).collect())
}

fn content(record: &Record) -> Result<Vec<Block>, ReadError> {
    let at = |inner: String, part: &Value| Block {
        place: record.place(&inner),
        content: block(part),
        state: None,
    };
    match &record.value["content"] {
        Value::Null => Ok(Vec::new()),
        // An empty text as the model's content is not a part.
        Value::String(text) if text.is_empty() && record.text("type") == "gemini" => Ok(Vec::new()),
        Value::Array(parts) => {
            Ok(parts.iter().enumerate().map(|(n, part)| at(format!("/content/{n}"), part)).collect())
        }
        part @ (Value::String(_) | Value::Object(_)) => Ok(vec![at("/content".to_owned(), part)]),
        _ => Err(FormError::Shape("a content that is neither text nor parts").of(Product::GeminiCli)),
    }
}

/// The blocks of a model message. If the content contains any calls or thoughts, it contains all of them.
/// Otherwise, they are in other fields of the record.
fn said(record: &Record, mut content: Vec<Block>) -> Vec<Block> {
    let calls = list(record, "toolCalls");
    let states: BTreeMap<&str, &str> =
        calls.iter().map(|call| (text(call, "id"), text(call, "status"))).collect();
    let is_whole =
        |block: &Block| matches!(block.content, histories::Block::Call(_) | histories::Block::Thinking(_));
    if content.iter().any(is_whole) {
        for block in &mut content {
            if let histories::Block::Call(call) = &block.content {
                block.state = states.get(call.id.as_str()).map(|state| (*state).to_owned());
            }
        }
        return content;
    }
    let thought = |(n, thought): (usize, &Value)| {
        let text = match text(thought, "subject") {
            "" => text(thought, "description").to_owned(),
            subject => format!("**{subject}** {}", text(thought, "description")),
        };
        let content = histories::Block::Thinking(Thinking { text, ..Thinking::default() });
        Block { place: record.place(&format!("/thoughts/{n}")), content, state: None }
    };
    let mut said: Vec<Block> = list(record, "thoughts").iter().enumerate().map(thought).collect();
    said.append(&mut content);
    said.extend(calls.iter().enumerate().map(|(n, call)| Block {
        place: record.place(&format!("/toolCalls/{n}")),
        content: histories::Block::Call(Call::new(
            text(call, "id"),
            text(call, "name"),
            call.get("args").map_or_else(|| "{}".to_owned(), Value::to_string),
        )),
        state: call.get("status").and_then(Value::as_str).map(str::to_owned),
    }));
    said
}

/// The results of the calls in a record.
fn results(record: &Record) -> Vec<Block> {
    let mut results = Vec::new();
    for (n, call) in list(record, "toolCalls").iter().enumerate() {
        let at = |inner: String, content: histories::Block| Block {
            place: record.place(&format!("/toolCalls/{n}/result{inner}")),
            content,
            state: None,
        };
        match &call["result"] {
            value if !is_truthy(Some(value)) => {}
            Value::String(said) => {
                let (call, name) = (text(call, "id").to_owned(), text(call, "name").to_owned());
                let output = vec![histories::Block::Text(said.clone())];
                let result = CallResult::new(call, name, output);
                results.push(at(String::new(), histories::Block::Result(result)));
            }
            Value::Array(parts) => {
                results.extend(parts.iter().enumerate().map(|(n, part)| at(format!("/{n}"), block(part))));
            }
            part => results.push(at(String::new(), block(part))),
        }
    }
    results
}

fn list<'r>(record: &'r Record, key: &str) -> &'r [Value] {
    record.value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Returns whether a user message is never sent: it is blank, a command, or context that is created again
/// (`isIgnoredUserContent` of `packages/core/src/utils/sessionUtils.ts`, 0.61.0). A part that is not text
/// counts as text in brackets.
fn is_ignored(content: &Value) -> bool {
    let first = match content {
        Value::Array(parts) => {
            parts.iter().map(words).find(|words| !words.trim().is_empty()).unwrap_or_default()
        }
        other => words(other),
    };
    let first = first.trim_start();
    let begins =
        ["/", "?", "<session_context>", "<hook_context>"].iter().any(|begin| first.starts_with(begin));
    first.is_empty() || begins
}

fn words(part: &Value) -> &str {
    match part {
        Value::String(text) => text,
        Value::Object(fields)
            if fields.keys().any(|key| !matches!(key.as_str(), "text" | "thoughtSignature")) =>
        {
            "["
        }
        part => text(part, "text"),
    }
}
