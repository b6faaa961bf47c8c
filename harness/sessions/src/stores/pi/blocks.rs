//! Converts pi's lines into messages.

use brickbat_rules::Dialect;
use brickbat_rules::histories::{self, Call, CallResult, Image, Role, Thinking};
use serde_json::{Value, json};

use super::dialect_of;
use crate::clients::{self, Quirk};
use crate::json::text;
use crate::stores::ReadError;
use crate::stores::records::Record;
use crate::{Block, Ending, FormError, Message, Product};

/// The texts before and after a summary (`src/core/messages.ts` of `@earendil-works/pi-coding-agent`).
pub(super) type Around = (&'static str, &'static str);
pub(super) const COMPACTION: Around = (
    "The conversation history before this point was compacted into the following summary:\n\n<summary>\n",
    "\n</summary>",
);
pub(super) const BRANCH: Around = (
    "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n",
    "</summary>",
);

/// The model of the next request.
#[derive(Debug, Clone, Default)]
pub(super) struct Model {
    provider: String,
    pub(super) id: Option<String>,
    pub(super) dialect: Option<Dialect>,
}

impl Model {
    /// The last model on the branch, from a reply or a model change. A change to another provider does not
    /// reveal the dialect.
    pub(super) fn of_branch(path: &[&Record]) -> Model {
        let mut model = Model::default();
        for record in path {
            let reply = &record.value["message"];
            if record.text("type") == "model_change" {
                // oh-my-pi also records the models of other tasks.
                if !matches!(record.text("role"), "" | "default") {
                    continue;
                }
                let (provider, id) = match record.text("model").split_once('/') {
                    Some(names) => names,
                    None => (record.text("provider"), record.text("modelId")),
                };
                model.dialect = model.dialect.filter(|_| provider == model.provider);
                model.id = Some(id.to_owned());
                model.provider = provider.to_owned();
            } else if record.text("type") == "message" && text(reply, "role") == "assistant" {
                model.dialect = dialect_of(text(reply, "api"));
                model.id = reply.get("model").and_then(Value::as_str).map(str::to_owned);
                model.provider = text(reply, "provider").to_owned();
            }
        }
        model
    }

    fn said(&self, reply: &Value) -> bool {
        text(reply, "provider") == self.provider
            && reply.get("model").and_then(Value::as_str) == self.id.as_deref()
    }
}

/// The message at a pointer in a line. `None` if it is never sent.
pub(super) fn message(
    record: &Record,
    at: &str,
    id: &str,
    model: &Model,
) -> Result<Option<Message>, ReadError> {
    let value = if at.is_empty() { &record.value } else { record.value.pointer(at).unwrap_or(&Value::Null) };
    Ok(match text(value, "role") {
        "user" | "developer" | "custom" | "hookMessage" => Some(said_by_user(record, at, id)?),
        "assistant" => Some(reply(record, at, id, value, model)?),
        "toolResult" => Some(result(record, at, id, value)),
        "bashExecution" | "pythonExecution" if value["excludeFromContext"] == json!(true) => None,
        "pythonExecution" => {
            let words = format!("Ran Python:\n{}\n{}", text(value, "code"), text(value, "output"));
            Some(one_text(record, &format!("{at}/output"), id, words))
        }
        "fileMention" => Some(one_text(record, &format!("{at}/files"), id, value["files"].to_string())),
        "bashExecution" => Some(one_text(record, &format!("{at}/output"), id, bash_text(value))),
        "compactionSummary" => summary(record, at, id, COMPACTION),
        "branchSummary" => summary(record, at, id, BRANCH),
        _ => return Err(FormError::Shape("a message with an unknown role").of(Product::Pi)),
    })
}

/// A message of the user, or of an extension.
pub(super) fn said_by_user(record: &Record, at: &str, id: &str) -> Result<Message, ReadError> {
    let pointer = format!("{at}/content");
    match record.value.pointer(&pointer) {
        Some(Value::String(words)) => Ok(one_text(record, &pointer, id, words.clone())),
        Some(Value::Array(parts)) => {
            let blocks = parts.iter().enumerate().map(|(n, part)| Block {
                place: record.place(&format!("{pointer}/{n}")),
                content: plain(part),
                state: None,
            });
            Ok(of(record, id, Role::User, blocks.collect()))
        }
        _ => Err(FormError::Shape("a content that is neither text nor parts").of(Product::Pi)),
    }
}

/// A summary, as a message that replaces the omitted ones.
pub(super) fn summary(record: &Record, at: &str, id: &str, (before, after): Around) -> Option<Message> {
    let pointer = format!("{at}/summary");
    let words = record.value.pointer(&pointer).and_then(Value::as_str)?;
    Some(one_text(record, &pointer, id, format!("{before}{words}{after}")))
}

fn one_text(record: &Record, pointer: &str, id: &str, words: String) -> Message {
    let content = histories::Block::Text(words);
    of(record, id, Role::User, vec![Block { place: record.place(pointer), content, state: None }])
}

fn of(record: &Record, id: &str, role: Role, blocks: Vec<Block>) -> Message {
    Message { role, blocks, id: Some(id.to_owned()), place: record.place(""), ending: Ending::Whole }
}

fn reply(record: &Record, at: &str, id: &str, value: &Value, model: &Model) -> Result<Message, ReadError> {
    let block = |pointer: String, content| Block { place: record.place(&pointer), content, state: None };
    let blocks = match &value["content"] {
        Value::Array(parts) => {
            let parts = parts.iter().enumerate();
            parts
                .map(|(n, part)| block(format!("{at}/content/{n}"), said(part, value, model, record.line)))
                .collect()
        }
        Value::String(words) => vec![block(format!("{at}/content"), histories::Block::Text(words.clone()))],
        Value::Null => Vec::new(),
        _ => return Err(FormError::Shape("a reply that is neither text nor blocks").of(Product::Pi)),
    };
    let ending = match text(value, "stopReason") {
        "error" => Ending::Failed,
        "aborted" => Ending::Aborted,
        _ => Ending::Whole,
    };
    Ok(Message { ending, ..of(record, id, Role::Assistant, blocks) })
}

/// A block in a reply. Content that only its own model can read is left out if the next request uses another
/// model (`transformMessages` of `@earendil-works/pi-ai`).
fn said(part: &Value, reply: &Value, model: &Model, line: Option<u64>) -> histories::Block {
    let is_same = model.said(reply);
    let signature = |key: &str| part.get(key).and_then(Value::as_str).filter(|_| is_same).map(str::to_owned);
    match text(part, "type") {
        "thinking" => {
            let signature = signature("thinkingSignature");
            let dialect = dialect_of(text(reply, "api"));
            let clients = clients::of(dialect);
            match (dialect, &signature) {
                (Some(_), Some(item)) if clients.have(Quirk::PiStoresItems) => {
                    if let Ok(value @ Value::Object(_)) = serde_json::from_str(item) {
                        return histories::Block::Native { dialect: Dialect::OpenaiResponses, value };
                    }
                }
                (Some(dialect), Some(data)) if part["redacted"] == json!(true) => {
                    let value = json!({ "type": "redacted_thinking", "data": data });
                    return histories::Block::Native { dialect, value };
                }
                _ => {}
            }
            let signature = signature.filter(|_| !clients.have(Quirk::PiStoresFieldNames));
            histories::Block::Thinking(Thinking {
                text: text(part, "thinking").to_owned(),
                signature,
                id: None,
            })
        }
        "toolCall" => {
            let (id, item) = ids(text(part, "id"));
            histories::Block::Call(Call {
                signature: signature("thoughtSignature"),
                item: item.filter(|_| is_same).map(str::to_owned),
                ..Call::new(
                    id,
                    text(part, "name"),
                    part.get("arguments").map_or_else(|| "{}".to_owned(), Value::to_string),
                )
            })
        }
        "text" if is_same && clients::of(model.dialect).have(Quirk::PiStoresItems) => {
            item_of_text(part, line)
        }
        _ => plain(part),
    }
}

/// A text from the Responses API. It is sent as an item with its own id, or with an id that pi generates,
/// which the texts of one message share: <https://github.com/earendil-works/pi/issues/5148>.
fn item_of_text(part: &Value, line: Option<u64>) -> histories::Block {
    let made_up = format!("msg_{}", line.unwrap_or_default());
    let signature = text(part, "textSignature");
    let parsed: Value = serde_json::from_str(signature).unwrap_or_default();
    let id = match (text(&parsed, "id"), signature) {
        ("", "") => &made_up,
        ("", plain) => plain,
        (id, _) => id,
    };
    let content = json!([{ "type": "output_text", "text": text(part, "text"), "annotations": [] }]);
    let value = json!({ "type": "message", "role": "assistant", "id": id, "status": "completed", "content": content });
    histories::Block::Native { dialect: Dialect::OpenaiResponses, value }
}

/// Splits an id. In the Responses API, it consists of the call id and the item id, separated by a bar.
pub(super) fn ids(id: &str) -> (&str, Option<&str>) {
    match id.split_once('|') {
        Some((call, item)) => (call, Some(item)),
        None => (id, None),
    }
}

fn plain(part: &Value) -> histories::Block {
    match text(part, "type") {
        "text" => histories::Block::Text(text(part, "text").to_owned()),
        "image" => histories::Block::Image(Image {
            media_type: text(part, "mimeType").to_owned(),
            data: text(part, "data").to_owned(),
        }),
        // An unknown block becomes a block that no dialect sends.
        _ => histories::Block::Native { dialect: Dialect::AnthropicMessages, value: part.clone() },
    }
}

fn result(record: &Record, at: &str, id: &str, value: &Value) -> Message {
    let output = match &value["content"] {
        Value::Array(parts) => parts.iter().map(plain).collect(),
        Value::String(words) => vec![histories::Block::Text(words.clone())],
        _ => Vec::new(),
    };
    let content = histories::Block::Result(CallResult {
        is_error: value["isError"] == json!(true),
        ..CallResult::new(ids(text(value, "toolCallId")).0, text(value, "toolName"), output)
    });
    of(record, id, Role::Tool, vec![Block { place: record.place(at), content, state: None }])
}

fn bash_text(value: &Value) -> String {
    let output = match text(value, "output") {
        "" => "(no output)".to_owned(),
        output => format!("```\n{output}\n```"),
    };
    let mut words = format!("Ran `{}`\n{output}", text(value, "command"));
    match value.get("exitCode").and_then(Value::as_i64) {
        _ if value["cancelled"] == json!(true) => words.push_str("\n\n(command cancelled)"),
        Some(code) if code != 0 => words.push_str(&format!("\n\nCommand exited with code {code}")),
        _ => {}
    }
    words
}
