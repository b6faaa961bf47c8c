//! GitHub's Copilot CLI: JSONL events, in order.
//!
//! The product is closed source, so the only sources are its files and issues
//! (<https://github.com/github/copilot-cli/issues>). Its older versions refuse to resume a file with an
//! unreadable line, which is the most frequent cause of broken sessions. The history consists of `user.message`,
//! `assistant.message` with `toolRequests`, and `tool.execution_complete`.

mod lines;
mod send;
mod write;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use brickbat_rules::histories::{self, Call, CallResult, Role, Thinking};
use serde_json::{Value, json};

use super::records::Record;
use super::{Edit, Look, ReadError, Store, WriteError};
use crate::json::text;
use crate::names;
use crate::{Block, Ending, Files, FormError, Message, Product, RecordedRefusal, Sent, Session};

pub(crate) struct CopilotCli;

/// The known beginnings of event types.
const KINDS: [&str; 18] = [
    "session.",
    "user.",
    "assistant.",
    "tool.",
    "system.",
    "hook.",
    "subagent.",
    "skill.",
    "permission.",
    "elicitation.",
    "user_input.",
    "external_tool.",
    "command.",
    "exit_plan_mode.",
    "mcp.",
    "sampling.",
    "pending_messages.",
    "model.",
];

impl Store for CopilotCli {
    fn owns(&self, look: &Look<'_>) -> bool {
        look.is_headed(|line| line.field("data").is_object() && is_event(&line.to_value()))
    }

    fn read(&self, files: &Files) -> Result<Vec<Session>, ReadError> {
        session(files.main()).map(|session| vec![session])
    }

    fn send(&self, session: &Session) -> Sent {
        send::send(session)
    }

    fn fills_open_tail(&self, session: &Session) -> Option<&'static str> {
        send::recovers(session.version.as_deref()).then_some("recovers interrupted calls at resume")
    }

    fn is_parted(&self) -> bool {
        false
    }

    fn write(&self, files: &Files, _: &Session, edits: &[Edit]) -> Result<Files, WriteError> {
        write::write(files, edits)
    }
}

fn is_event(value: &Value) -> bool {
    let is_text = |key: &str| value.get(key).is_some_and(Value::is_string);
    let kind = text(value, "type");
    let is_known = kind == "abort" || KINDS.iter().any(|known| kind.starts_with(known));
    is_known && is_text("id") && is_text("timestamp") && value.get("data").is_some_and(Value::is_object)
}

fn session(bytes: &[u8]) -> Result<Session, ReadError> {
    let (records, faults) = lines::read(bytes);
    let mut history = History::default();
    let mut session = Session {
        n_records: records.len(),
        is_excerpt: records.first().is_some_and(|record| record.text("type") != "session.start"),
        ..Session::new(Product::CopilotCli, "JSONL events", "the events in their order")
    };
    for record in &records {
        let data = &record.value["data"];
        let own = |key: &str| data.get(key).and_then(Value::as_str).map(str::to_owned);
        match record.text("type") {
            "session.start" | "session.resume" => {
                session.id = own("sessionId").or(session.id);
                session.version = own("copilotVersion").or(session.version);
                session.model = own("selectedModel").or(session.model);
            }
            "session.model_change" => session.model = own("newModel").or(session.model),
            "tool.user_requested" => {
                history.not_sent.insert(text(data, "toolCallId").to_owned());
            }
            "session.compaction_start" => history.compaction = Some(history.messages.len()),
            "session.error" => session.refused = refused(record).or(session.refused),
            "session.compaction_complete" if data["success"] != json!(false) => {
                session.refused = None;
                session.n_compactions += 1;
                history.compact(record);
            }
            "user.message" => history.say(user(record)?, data),
            "assistant.message" => {
                session.refused = None;
                session.model = own("model").or(session.model);
                history.say(reply(record)?, data);
            }
            "tool.execution_complete" => history.say(result(record), data),
            kind if kind == "abort" || KINDS.iter().any(|known| kind.starts_with(known)) => {}
            _ if session.unknown.is_empty() => session.unknown.push("an event of another type".to_owned()),
            _ => {}
        }
    }
    (session.messages, session.off_branch) = (history.messages, history.off_branch);
    let model = session.model.as_deref().unwrap_or_default();
    session.dialect = names::dialect_of(|names| names.copilot_cli, "", model);
    // Another model is one of a provider of the user's, or one that GitHub offers over Chat Completions.
    names::note_provider_of_model(&mut session);
    session.troubles = lines::troubles(faults, session.version.as_deref());
    Ok(session)
}

/// The statuses with which providers refuse a body.
const REFUSALS: [u64; 3] = [400, 413, 422];

/// The refusal that an event is. Older versions have no `statusCode`, but words such as `CAPIError: 400 …` (`ErrorData` of
/// `@github/copilot-sdk`, and <https://github.com/github/copilot-cli/issues/3366>).
fn refused(record: &Record) -> Option<RecordedRefusal> {
    let data = &record.value["data"];
    let words = text(data, "message");
    let is_refusal = data["statusCode"].as_u64().is_some_and(|status| REFUSALS.contains(&status))
        || words.contains(" 400 ");
    let is_own = text(&record.value, "agentId").is_empty();
    (is_refusal && is_own)
        .then(|| RecordedRefusal { words: words.to_owned(), place: record.place("/data/message") })
}

/// The messages up to an event.
#[derive(Debug, Default)]
struct History {
    messages: Vec<Message>,
    off_branch: Vec<Message>,
    /// Calls that the user made and the model never sees.
    not_sent: BTreeSet<String>,
    /// The number of messages when the last compaction began.
    compaction: Option<usize>,
}

impl History {
    /// Adds a message. A message of a sub-agent names the call that started it, and is not sent by the main
    /// agent.
    fn say(&mut self, message: Message, data: &Value) {
        let is_own = text(data, "parentToolCallId").is_empty();
        let is_sent = is_own && !message.results().any(|result| self.not_sent.contains(&result.call));
        match is_sent {
            _ if message.blocks.is_empty() && message.role != Role::Assistant => {}
            true => self.messages.push(message),
            false => self.off_branch.push(message),
        }
    }

    /// Applies a compaction. It runs in parallel to the conversation and replaces the messages that existed
    /// when it began. Results of replaced calls are replaced, too.
    fn compact(&mut self, record: &Record) {
        let n = self.compaction.take().unwrap_or(self.messages.len()).min(self.messages.len());
        let kept = self.messages.split_off(n);
        let gone: BTreeSet<String> =
            self.messages.iter().flat_map(|message| message.calls().map(|call| call.id.clone())).collect();
        self.off_branch.append(&mut self.messages);
        if let Some(summary) = record.value.pointer("/data/summaryContent").and_then(Value::as_str) {
            let content = histories::Block::Text(summary.to_owned());
            self.messages.push(of(record, Role::User, vec![at(record, "/data/summaryContent", content)]));
        }
        let (old, kept): (Vec<_>, Vec<_>) =
            kept.into_iter().partition(|message| message.results().any(|result| gone.contains(&result.call)));
        self.off_branch.extend(old);
        self.messages.extend(kept);
    }
}

fn at(record: &Record, inner: &str, content: histories::Block) -> Block {
    Block { place: record.place(inner), content, state: None }
}

fn of(record: &Record, role: Role, blocks: Vec<Block>) -> Message {
    let id = record.value.get("id").and_then(Value::as_str).map(str::to_owned);
    Message { role, blocks, id, place: record.place(""), ending: Ending::Whole }
}

/// A user message, including the text that the product put around it.
fn user(record: &Record) -> Result<Message, ReadError> {
    for pointer in ["/data/transformedContent", "/data/content"] {
        if let Some(words) =
            record.value.pointer(pointer).and_then(Value::as_str).filter(|words| !words.is_empty())
        {
            return Ok(of(
                record,
                Role::User,
                vec![at(record, pointer, histories::Block::Text(words.to_owned()))],
            ));
        }
    }
    match record.value["data"].get("content") {
        Some(Value::String(_) | Value::Null) | None => Ok(of(record, Role::User, Vec::new())),
        Some(_) => Err(FormError::Shape("a message of the user that is not a text").of(Product::CopilotCli)),
    }
}

fn reply(record: &Record) -> Result<Message, ReadError> {
    let data = &record.value["data"];
    let mut blocks = Vec::new();
    if let Some(signature) = data.get("reasoningOpaque").and_then(Value::as_str) {
        let text = text(data, "reasoningText").to_owned();
        let thinking = Thinking { text, signature: Some(signature.to_owned()), id: None };
        blocks.push(at(record, "/data/reasoningOpaque", histories::Block::Thinking(thinking)));
    }
    match data.get("content") {
        Some(Value::String(words)) if words.is_empty() => {}
        Some(Value::String(words)) => {
            blocks.push(at(record, "/data/content", histories::Block::Text(words.clone())))
        }
        Some(Value::Null) | None => {}
        Some(_) => return Err(FormError::Shape("a reply that is not a text").of(Product::CopilotCli)),
    }
    let requests = match data.get("toolRequests") {
        Some(Value::Array(requests)) => requests.as_slice(),
        Some(Value::Null) | None => &[],
        Some(_) => return Err(FormError::Shape("calls that are not a list").of(Product::CopilotCli)),
    };
    blocks.extend(requests.iter().enumerate().map(|(n, request)| {
        let arguments = match request.get("arguments") {
            Some(Value::String(arguments)) => arguments.clone(),
            Some(arguments) => arguments.to_string(),
            None => "{}".to_owned(),
        };
        let (id, name) = (text(request, "toolCallId").to_owned(), text(request, "name").to_owned());
        let call = Call::new(id, name, arguments);
        at(record, &format!("/data/toolRequests/{n}"), histories::Block::Call(call))
    }));
    Ok(of(record, Role::Assistant, blocks))
}

fn result(record: &Record) -> Message {
    let data = &record.value["data"];
    let words = match (data.get("result"), data.pointer("/error/message")) {
        (Some(Value::String(words)), _) => Some(words.as_str()),
        (Some(result), _) if result.get("content").is_some_and(Value::is_string) => {
            Some(text(result, "content"))
        }
        (_, Some(Value::String(words))) => Some(words.as_str()),
        _ => None,
    };
    let content = histories::Block::Result(CallResult {
        is_error: data["success"] == json!(false),
        ..CallResult::new(
            text(data, "toolCallId"),
            text(data, "toolName"),
            words.map(|words| histories::Block::Text(words.to_owned())).into_iter().collect(),
        )
    });
    of(record, Role::Tool, vec![at(record, "/data", content)])
}
