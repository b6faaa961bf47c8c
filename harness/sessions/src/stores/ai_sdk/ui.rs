//! Converts UI messages into messages.
//!
//! A reply is one UI message with many steps. It is converted as in `convertToModelMessages`
//! (<https://github.com/vercel/ai/blob/main/packages/ai/src/ui/convert-to-model-messages.ts>): one model
//! message per step, followed by the results of that step.

use brickbat_rules::Dialect;
use brickbat_rules::histories::{self, CallResult, Role};
use serde_json::{Value, json};

use super::parts::{call, dialect_of, file, kind_of, plain_output, thinking};
use crate::clients::{self, Quirk};
use crate::json::{text, word};
use crate::session::{ASKED, DECLINED};
use crate::stores::list_reader::{block, message, note};
use crate::{Block, FormError, Place, Session};

/// A UI message from any kind of store.
pub(crate) struct UiMessage {
    /// The role of the sender.
    pub(crate) role: Role,
    pub(crate) id: Option<String>,
    /// The place of the message.
    pub(crate) place: Place,
    /// The parts, each with its place.
    pub(crate) parts: Vec<(Place, Value)>,
}

/// The states of a tool part (`ToolUIPart`).
pub(crate) const STATES: [&str; 7] = [
    "input-streaming",
    "input-available",
    "approval-requested",
    "approval-responded",
    "output-available",
    "output-error",
    "output-denied",
];

/// The text for an error without one, from `getErrorMessage`.
const UNKNOWN_ERROR: &str = "unknown error";

/// Adds UI messages to a session.
///
/// # Errors
///
/// Describes a part with an unknown form.
pub(crate) fn read(session: &mut Session, list: Vec<UiMessage>) -> Result<(), FormError> {
    let parts = list.iter().rev().flat_map(|message| message.parts.iter().rev());
    if let Some((place, _)) = parts.clone().rev().find(|(_, part)| is_open_in_version_4(part)) {
        return Err(FormError::AiSdk4Call(place.to_string()));
    }
    session.dialect = parts.map(|(_, part)| part).find_map(dialect_of);
    for ui in list {
        match ui.role {
            Role::Assistant => reply(session, &ui)?,
            role => spoken(session, role, &ui)?,
        }
    }
    Ok(())
}

/// Returns whether a part is a call of version 4 without a result.
fn is_open_in_version_4(part: &Value) -> bool {
    let call = part.get("toolInvocation").filter(|_| text(part, "type") == "tool-invocation");
    call.is_some_and(|call| text(call, "state") != "result" && call.get("result").is_none())
}

fn spoken(session: &mut Session, role: Role, ui: &UiMessage) -> Result<(), FormError> {
    let mut blocks = Vec::new();
    for (place, part) in &ui.parts {
        match text(part, "type") {
            "text" => blocks.push(block(place, histories::Block::Text(words(part, place)?))),
            "file" if role == Role::User => blocks.extend(picture(session, place, part)),
            kind => pass_over(session, kind),
        }
    }
    session.messages.push(message(role, blocks, ui.id.as_deref(), &ui.place));
    Ok(())
}

/// Adds a reply of the model, with one message per step.
fn reply(session: &mut Session, ui: &UiMessage) -> Result<(), FormError> {
    let mut step = Step::default();
    for (place, part) in &ui.parts {
        let kind = text(part, "type");
        match kind {
            "step-start" => std::mem::take(&mut step).end(session, ui),
            "text" => step.said.push(block(place, histories::Block::Text(words(part, place)?))),
            "reasoning" => step.said.push(block(place, thinking(part, session.dialect))),
            "file" => step.said.extend(picture(session, place, part)),
            "dynamic-tool" => step.tool(session, place, part, text(part, "toolName"))?,
            "tool-invocation" if part.get("toolInvocation").is_some() => {
                return Err(FormError::AiSdk4(place.to_string()));
            }
            _ => match kind.strip_prefix("tool-") {
                Some(name) => step.tool(session, place, part, name)?,
                None => pass_over(session, kind),
            },
        }
    }
    step.end(session, ui);
    Ok(())
}

/// One request to the model, and its outcome.
#[derive(Default)]
struct Step {
    said: Vec<Block>,
    results: Vec<Block>,
}

impl Step {
    fn tool(
        &mut self,
        session: &mut Session,
        place: &Place,
        part: &Value,
        name: &str,
    ) -> Result<(), FormError> {
        let state = text(part, "state");
        if !STATES.contains(&state) {
            return Err(FormError::State { state: word(state), of: "call", place: place.to_string() });
        }
        if text(part, "toolCallId").is_empty() {
            return Err(FormError::Lacks { whole: "call", place: place.to_string(), part: "id" });
        }
        if part.get("providerExecuted").and_then(Value::as_bool) == Some(true) {
            self.server_tool(session, place, part, name);
            return Ok(());
        }
        let given = |key: &str| part.get(key).filter(|value| !value.is_null());
        let input = match state {
            "output-error" => given("input").or_else(|| given("rawInput")),
            _ => part.get("input"),
        };
        let call = call(part, name, input, session.dialect);
        let (id, name) = (call.id.clone(), call.name.clone());
        let state = match state {
            _ if is_declined(part) => DECLINED,
            // No answer can refer to a request without an id, so it waits for nothing.
            ASKED if !part.pointer("/approval/id").is_some_and(Value::is_string) => "approval-without-id",
            state => state,
        };
        let state = Some(state.to_owned());
        let content = histories::Block::Call(call);
        self.said.push(Block { place: place.clone(), content, state: state.clone() });
        if let Some((output, is_error)) = output(part) {
            let result = CallResult { is_error, ..CallResult::new(id, name, output) };
            let content = histories::Block::Result(result);
            self.results.push(Block { place: place.clone(), content, state });
        }
        Ok(())
    }

    /// A tool that the provider runs itself. Only Anthropic's search is sent unchanged; others are noted.
    fn server_tool(&mut self, session: &mut Session, place: &Place, part: &Value, name: &str) {
        let dialect = Dialect::AnthropicMessages;
        let results = part.get("output").and_then(Value::as_array);
        let sends = session.dialect.is_some() && clients::of(session.dialect).have(Quirk::AiSdkSendsSearches);
        let (Some(results), "web_search", true) = (results, name, sends) else {
            note(&mut session.unknown, "tool of the provider".to_owned());
            return;
        };
        let found = |result: &Value| {
            json!({
                "type": "web_search_result",
                "url": result.get("url"),
                "title": result.get("title"),
                "page_age": result.get("pageAge"),
                "encrypted_content": result.get("encryptedContent"),
            })
        };
        let id = text(part, "toolCallId");
        let content: Vec<Value> = results.iter().map(found).collect();
        let input = part.get("input").cloned().unwrap_or_default();
        let asked = json!({ "type": "server_tool_use", "id": id, "name": name, "input": input });
        let answer = json!({ "type": "web_search_tool_result", "tool_use_id": id, "content": content });
        for value in [asked, answer] {
            self.said.push(block(place, histories::Block::Native { dialect, value }));
        }
    }

    fn end(self, session: &mut Session, ui: &UiMessage) {
        for (role, blocks) in [(Role::Assistant, self.said), (Role::Tool, self.results)] {
            if !blocks.is_empty() {
                session.messages.push(message(role, blocks, ui.id.as_deref(), &ui.place));
            }
        }
    }
}

/// Returns whether the user has declined a call that has no outcome yet. The SDK answers it with the denial
/// only if the conversation is sent directly after that (`collectToolApprovals`).
pub(crate) fn is_declined(part: &Value) -> bool {
    let approved = part.pointer("/approval/approved").and_then(Value::as_bool);
    text(part, "state") == "approval-responded" && approved == Some(false)
}

/// The outcome of a call, and whether it is an error. `None` if there is no outcome yet.
fn output(part: &Value) -> Option<(Vec<histories::Block>, bool)> {
    let error = |text: &str| (vec![histories::Block::Text(text.to_owned())], true);
    match text(part, "state") {
        "output-available" => Some((plain_output(part.get("output")), false)),
        "output-error" => Some(error(part.get("errorText").and_then(Value::as_str).unwrap_or(UNKNOWN_ERROR))),
        "output-denied" => {
            let reason = part.pointer("/approval/reason").and_then(Value::as_str);
            Some(error(reason.unwrap_or("Tool call execution denied.")))
        }
        _ => None,
    }
}

fn words(part: &Value, place: &Place) -> Result<String, FormError> {
    match part.get("text").and_then(Value::as_str) {
        Some(text) => Ok(text.to_owned()),
        None => Err(FormError::Lacks { whole: "text", place: place.to_string(), part: "words" }),
    }
}

fn picture(session: &mut Session, place: &Place, part: &Value) -> Option<Block> {
    let media_type = text(part, "mediaType");
    let content = file(media_type, text(part, "url"));
    if content.is_none() {
        note(&mut session.unknown, kind_of(media_type));
    }
    content.map(|content| block(place, content))
}

/// Skips parts that are not sent: sources, data of the application, and unknown parts.
fn pass_over(session: &mut Session, kind: &str) {
    let is_known =
        matches!(kind, "step-start" | "source-url" | "source-document") || kind.starts_with("data-");
    if !is_known {
        note(&mut session.unknown, format!("part {}", word(kind)));
    }
}
