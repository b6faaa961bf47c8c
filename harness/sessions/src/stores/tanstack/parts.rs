//! Converts the parts of one message into messages.
//!
//! As in `buildAssistantMessages`, texts and calls of the model are collected until a result ends the
//! message. Outputs of calls without a result in the list come at the end.

use std::collections::BTreeSet;

use brickbat_rules::Dialect;
use brickbat_rules::histories::{Block as Content, Call, CallResult, Image, Role, Thinking};
use brickbat_rules::json::Json;
use serde_json::{Value, json};

use crate::json::{text, word};
use crate::stores::list_reader::{block, note};
use crate::{Block, FormError, Place, Session};

/// The states of a call that is still being written. Such a call is sent only if it has an outcome.
pub(super) const UNFINISHED: [&str; 2] = ["awaiting-input", "input-streaming"];

/// The other states of a call.
const FINISHED: [&str; 5] =
    ["input-complete", "approval-requested", "approval-responded", "complete", "error"];

/// The suffix in the state of an unfinished call that has an output and is therefore sent.
pub(super) const WITH_OUTPUT: &str = ", with an output";

/// A message whose parts are being read.
pub(super) struct Reply {
    messages: Vec<(Role, Vec<Block>)>,
    /// The ids of calls with a result in the list. Their outputs are not sent.
    answered: BTreeSet<String>,
    /// The outputs of calls, at the places of the calls.
    outputs: Vec<Block>,
}

impl Reply {
    pub(super) fn new(parts: Json<'_, '_>) -> Reply {
        let results = parts.items().filter(|part| part.field("type").is("tool-result"));
        let results = results.filter(|part| !part.field("state").is("streaming"));
        let answered =
            results.filter_map(|part| Some(part.field("toolCallId").as_str()?.into_owned())).collect();
        Reply { messages: Vec::new(), answered, outputs: Vec::new() }
    }

    pub(super) fn part(
        &mut self,
        session: &mut Session,
        at: Place,
        part: Json<'_, '_>,
    ) -> Result<(), FormError> {
        let part = part.to_value();
        let content = match text(&part, "type") {
            "text" => Content::Text(text(&part, "content").to_owned()),
            "thinking" => {
                let signature = part.get("signature").and_then(Value::as_str).map(str::to_owned);
                let text = text(&part, "content").to_owned();
                Content::Thinking(Thinking { text, signature, id: None })
            }
            "tool-call" => return self.call(session, at, &part),
            "tool-result" => return self.result(at, &part),
            "image" => match image(&part) {
                Some(image) => image,
                None => return Ok(()),
            },
            "structured-output" if text(&part, "status") == "complete" => {
                let data = part.get("data").map(Value::to_string).unwrap_or_default();
                Content::Text(part.get("raw").and_then(Value::as_str).map_or(data, str::to_owned))
            }
            // Widgets are only shown.
            "ui-resource" | "structured-output" => return Ok(()),
            kind => {
                note(&mut session.unknown, format!("part {}", word(kind)));
                return Ok(());
            }
        };
        self.push(Role::Assistant, block(&at, content));
        Ok(())
    }

    fn call(&mut self, session: &mut Session, at: Place, part: &Value) -> Result<(), FormError> {
        let (id, name, state) = (text(part, "id"), text(part, "name"), text(part, "state"));
        if !UNFINISHED.contains(&state) && !FINISHED.contains(&state) {
            return Err(FormError::State { state: word(state), of: "call", place: at.to_string() });
        }
        if part.pointer("/metadata/providerExecuted").and_then(Value::as_bool) == Some(true) {
            note(&mut session.unknown, "tool of the provider".to_owned());
            return Ok(());
        }
        let output = part.get("output");
        let unfinished = UNFINISHED.contains(&state) && output.is_some();
        let call = Call::new(id, name, text(part, "arguments"));
        let state = format!("{state}{}", if unfinished { WITH_OUTPUT } else { "" });
        let came = match output {
            Some(Value::String(text)) => Some(text.clone()),
            Some(output) => Some(output.to_string()),
            None => decision(part, &state),
        };
        if let Some(came) = came.filter(|_| !self.answered.contains(id)) {
            let output = vec![Content::Text(came)];
            let result = CallResult { is_error: state == "error", ..CallResult::new(id, name, output) };
            self.outputs.push(block(&at, Content::Result(result)));
        }
        self.push(Role::Assistant, Block { place: at, content: Content::Call(call), state: Some(state) });
        Ok(())
    }

    fn result(&mut self, at: Place, part: &Value) -> Result<(), FormError> {
        let state = text(part, "state");
        if !matches!(state, "complete" | "error" | "streaming") {
            return Err(FormError::State { state: word(state), of: "result", place: at.to_string() });
        }
        let output = match part.get("content") {
            Some(Value::Array(parts)) => parts.iter().filter_map(content).collect(),
            Some(Value::String(text)) => vec![Content::Text(text.clone())],
            _ => Vec::new(),
        };
        let (call, name) = (text(part, "toolCallId").to_owned(), text(part, "name").to_owned());
        let result = CallResult { is_error: state == "error", ..CallResult::new(call, name, output) };
        let state = Some(state.to_owned());
        self.push(Role::Tool, Block { place: at, content: Content::Result(result), state });
        Ok(())
    }

    fn push(&mut self, role: Role, block: Block) {
        match self.messages.last_mut() {
            Some((last, blocks)) if *last == role => blocks.push(block),
            _ => self.messages.push((role, vec![block])),
        }
    }

    /// The content of a user or system message.
    pub(super) fn said(self) -> Vec<Block> {
        let said = self.messages.into_iter().filter(|(role, _)| *role == Role::Assistant);
        said.flat_map(|(_, blocks)| blocks).collect()
    }

    /// The messages of a reply.
    pub(super) fn end(mut self) -> Vec<(Role, Vec<Block>)> {
        for output in std::mem::take(&mut self.outputs) {
            self.push(Role::Tool, output);
        }
        self.messages
    }
}

/// The text that tells the model about the user's decision until the call has run.
fn decision(part: &Value, state: &str) -> Option<String> {
    let approved = part.pointer("/approval/approved").filter(|_| state == "approval-responded")?.as_bool()?;
    let words = match approved {
        true => json!({ "approved": true, "pendingExecution": true, "message": "User approved this action" }),
        false => json!({ "approved": false, "message": "User denied this action" }),
    };
    Some(words.to_string())
}

fn content(part: &Value) -> Option<Content> {
    match text(part, "type") {
        "text" => Some(Content::Text(text(part, "content").to_owned())),
        "image" => image(part),
        _ => None,
    }
}

fn image(part: &Value) -> Option<Content> {
    let source = part.get("source")?;
    let data = text(source, "value").to_owned();
    Some(match text(source, "type") {
        "url" => {
            let source = json!({ "type": "url", "url": data });
            let value = json!({ "type": "image", "source": source });
            Content::Native { dialect: Dialect::AnthropicMessages, value }
        }
        _ => Content::Image(Image { media_type: text(source, "mimeType").to_owned(), data }),
    })
}
