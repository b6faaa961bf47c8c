//! The blocks of a stored message.
//!
//! A reply is split into its steps, since only `step-start` begins a new message of the request. The results
//! of a step follow it in a separate message.

use std::collections::BTreeSet;

use brickbat_rules::Dialect;
use brickbat_rules::histories::{self, Call, CallResult, Image, Role, Thinking};
use serde_json::{Value, json};

use super::raw::{RawMessage, RawPart};
use crate::json::text;
use crate::{Block, Ending, Message};

/// The state of a result with an output that was later cleared. The product sends
/// [`CLEARED`](super::send::CLEARED) for it.
pub(super) const COMPACTED: &str = "compacted";

/// The state of a thought from a model other than the next request's model.
pub(super) const OF_ANOTHER_MODEL: &str = "of another model";

/// The state of a thought in a reply that was stopped before it contained anything else.
pub(super) const NOTHING_SAID: &str = "nothing said";

/// Converts a stored message: a user message into one message, a reply into one message per step, each
/// followed by its results.
pub(super) fn messages(raw: &RawMessage, current: &str, unknown: &mut BTreeSet<String>) -> Vec<Message> {
    match text(&raw.info, "role") {
        "user" => of_user(raw, unknown),
        "assistant" => of_reply(raw, current, unknown),
        _ => {
            unknown.insert("a message of another role".to_owned());
            Vec::new()
        }
    }
}

/// Texts and files, read as in `toModelMessages` in `session/message-v2.ts` of 1.18.33. A text file was
/// converted to text when it was added, so its part is not sent.
fn of_user(raw: &RawMessage, unknown: &mut BTreeSet<String>) -> Vec<Message> {
    let mut blocks = Vec::new();
    for part in &raw.parts {
        let content = match text(&part.value, "type") {
            "text" if part.value.get("ignored") == Some(&Value::Bool(true)) => continue,
            "text" => histories::Block::Text(text(&part.value, "text").to_owned()),
            "file" if matches!(text(&part.value, "mime"), "text/plain" | "application/x-directory") => {
                continue;
            }
            "file" => file(&part.value),
            "compaction" => histories::Block::Text("What did we do so far?".to_owned()),
            "subtask" => histories::Block::Text("The following tool was executed by the user".to_owned()),
            kind => {
                note(kind, unknown);
                continue;
            }
        };
        blocks.push(block(part, content, None));
    }
    message(raw, Role::User, blocks, Ending::Whole).into_iter().collect()
}

fn of_reply(raw: &RawMessage, current: &str, unknown: &mut BTreeSet<String>) -> Vec<Message> {
    let model = format!("{}/{}", text(&raw.info, "providerID"), text(&raw.info, "modelID"));
    let is_other = current != model;
    let ending = match raw.info.get("error") {
        None | Some(Value::Null) => Ending::Whole,
        Some(error) if text(error, "name") == "MessageAbortedError" => Ending::Aborted,
        Some(_) => Ending::Failed,
    };
    let says = |part: &RawPart| !matches!(text(&part.value, "type"), "step-start" | "reasoning");
    let thought = match () {
        () if ending == Ending::Aborted && !raw.parts.iter().any(says) => Some(NOTHING_SAID),
        () if is_other => Some(OF_ANOTHER_MODEL),
        () => None,
    };
    let mut messages = Vec::new();
    let mut said = Vec::new();
    let mut results = Vec::new();
    let mut end_step = |said: &mut Vec<Block>, results: &mut Vec<Block>| {
        messages.extend(message(raw, Role::Assistant, std::mem::take(said), ending));
        messages.extend(message(raw, Role::Tool, std::mem::take(results), Ending::Whole));
    };
    for part in &raw.parts {
        match text(&part.value, "type") {
            "step-start" => end_step(&mut said, &mut results),
            "text" => {
                said.push(block(part, histories::Block::Text(text(&part.value, "text").to_owned()), None))
            }
            "reasoning" => said.push(block(part, thinking(&part.value), thought.map(str::to_owned))),
            "tool" if part.value.pointer("/metadata/providerExecuted") == Some(&Value::Bool(true)) => {
                unknown.insert("a call that the provider ran itself".to_owned());
            }
            "tool" => {
                said.push(call(part, is_other));
                results.extend(result(part));
            }
            kind => note(kind, unknown),
        }
    }
    end_step(&mut said, &mut results);
    messages
}

fn message(raw: &RawMessage, role: Role, blocks: Vec<Block>, ending: Ending) -> Option<Message> {
    let first = blocks.first()?;
    // A message is edited through its parts. The place of its row does not name a part.
    let place = first.place.clone();
    Some(Message { role, blocks, id: Some(raw.id.clone()), place, ending })
}

fn block(part: &RawPart, content: histories::Block, state: Option<String>) -> Block {
    Block { place: part.place.clone(), content, state }
}

/// Notes an unknown kind of part. The product skips unknown parts, too.
fn note(kind: &str, unknown: &mut BTreeSet<String>) {
    let is_known =
        ["step-finish", "snapshot", "patch", "agent", "retry", "compaction", "subtask", "file", "tool"];
    if is_known.contains(&kind) || matches!(kind, "reasoning" | "step-start") {
        return;
    }
    let is_word = !kind.is_empty()
        && kind.len() <= 32
        && kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    unknown.insert(if is_word { format!("part {kind}") } else { "a part without a type".to_owned() });
}

/// A thought with the provider's signature: `signature` for Anthropic and Bedrock, `thoughtSignature` for
/// Gemini, an item id and `reasoningEncryptedContent` for OpenAI.
fn thinking(part: &Value) -> histories::Block {
    let words = text(part, "text").to_owned();
    if let Some(data) = metadata(part, "redactedData") {
        let value = json!({ "type": "redacted_thinking", "data": data });
        return histories::Block::Native { dialect: Dialect::AnthropicMessages, value };
    }
    let signature = ["signature", "thoughtSignature", "reasoningEncryptedContent"];
    let signature = signature.into_iter().find_map(|key| metadata(part, key));
    histories::Block::Thinking(Thinking { text: words, signature, id: metadata(part, "itemId") })
}

/// A text field of the provider's metadata, whatever the provider is called there.
fn metadata(part: &Value, key: &str) -> Option<String> {
    let providers = part.get("metadata")?.as_object()?;
    providers.values().find_map(|own| own.get(key)?.as_str()).map(str::to_owned)
}

/// A call. The signature of another model's provider is not sent to this one.
fn call(part: &RawPart, is_other: bool) -> Block {
    let state = part.value.get("state").unwrap_or(&Value::Null);
    let own = |key: &str| metadata(&part.value, key).filter(|_| !is_other);
    let call = Call {
        signature: own("thoughtSignature"),
        item: own("itemId"),
        ..Call::new(
            text(&part.value, "callID"),
            text(&part.value, "tool"),
            state.get("input").unwrap_or(&Value::Null).to_string(),
        )
    };
    block(part, histories::Block::Call(call), Some(text(state, "status").to_owned()))
}

/// The result of a finished call. For an interrupted tool, it is the output so far.
fn result(part: &RawPart) -> Option<Block> {
    let state = part.value.get("state")?;
    let interrupted = state.pointer("/metadata/interrupted") == Some(&Value::Bool(true));
    let partial = state.pointer("/metadata/output").and_then(Value::as_str).filter(|_| interrupted);
    let (words, is_error) = match (text(state, "status"), partial) {
        ("completed", _) => (state.get("output")?.as_str()?, false),
        ("error", Some(partial)) => (partial, false),
        ("error", None) => (text(state, "error"), true),
        _ => return None,
    };
    let mut output = Vec::new();
    if !words.is_empty() {
        output.push(histories::Block::Text(words.to_owned()));
    }
    if let (false, Some(Value::Array(files))) = (is_error, state.get("attachments")) {
        output.extend(files.iter().map(file));
    }
    let is_compacted =
        state.pointer("/time/compacted").is_some_and(|time| !time.is_null() && *time != json!(0));
    let name = text(&part.value, "tool").to_owned();
    let result = CallResult { is_error, ..CallResult::new(text(&part.value, "callID"), name, output) };
    let state = (is_compacted && !is_error).then(|| COMPACTED.to_owned());
    Some(block(part, histories::Block::Result(result), state))
}

/// A file. An image stays unchanged and an Anthropic document stays a document. Any other file becomes its
/// name, as in the product when it leaves files out.
fn file(part: &Value) -> histories::Block {
    let mime = text(part, "mime");
    let data = text(part, "url").strip_prefix("data:").and_then(|rest| Some(rest.split_once(',')?.1));
    match data {
        Some(data) if mime.starts_with("image/") => {
            histories::Block::Image(Image { media_type: mime.to_owned(), data: data.to_owned() })
        }
        Some(data) if mime == "application/pdf" => {
            let source = json!({ "type": "base64", "media_type": mime, "data": data });
            let value = json!({ "type": "document", "source": source });
            histories::Block::Native { dialect: Dialect::AnthropicMessages, value }
        }
        _ => {
            let name = part.get("filename").and_then(Value::as_str).unwrap_or("file");
            histories::Block::Text(format!("[Attached {mime}: {name}]"))
        }
    }
}
