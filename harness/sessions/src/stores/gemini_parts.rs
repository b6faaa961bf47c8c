//! Parts in Gemini contents, as Gemini CLI and Qwen Code store them.

use brickbat_rules::Dialect;
use brickbat_rules::histories::{self, Call, CallResult, Image, Role, Thinking};
use serde_json::{Value, json};

use crate::json::text;
use crate::{Block, Message, Sent};

/// Converts a part into a block.
pub(super) fn block(part: &Value) -> histories::Block {
    let native = |value: Value| histories::Block::Native { dialect: Dialect::Gemini, value };
    let signature = part.get("thoughtSignature").and_then(Value::as_str).map(str::to_owned);
    if let Some(words) = part.as_str() {
        return histories::Block::Text(words.to_owned());
    }
    if let Some(call) = part.get("functionCall").filter(|call| call.is_object()) {
        return histories::Block::Call(Call {
            signature,
            ..Call::new(
                text(call, "id"),
                text(call, "name"),
                call.get("args").map_or_else(|| "{}".to_owned(), Value::to_string),
            )
        });
    }
    if let Some(response) = part.get("functionResponse").filter(|response| response.is_object()) {
        return histories::Block::Result(result(response));
    }
    if is_truthy(part.get("thought")) {
        let text = text(part, "text").to_owned();
        return histories::Block::Thinking(Thinking { text, signature, id: None });
    }
    if let Some(image) = part.get("inlineData").filter(|data| text(data, "mimeType").starts_with("image/")) {
        let (media_type, data) = (text(image, "mimeType").to_owned(), text(image, "data").to_owned());
        return histories::Block::Image(Image { media_type, data });
    }
    match part.get("text").and_then(Value::as_str) {
        // Gemini 3 ends a reply with an empty text that only carries a signature. The products send it
        // without the text.
        Some("") if signature.is_some() => native(json!({ "thoughtSignature": signature })),
        Some(words) => histories::Block::Text(words.to_owned()),
        None => native(part.clone()),
    }
}

/// A part that answers a call.
pub(super) fn response(id: &str, name: &str, response: Value) -> Value {
    json!({ "functionResponse": { "id": id, "name": name, "response": response } })
}

/// The part that replaces a result that was never recorded.
pub(super) fn not_recorded(id: &str, name: &str) -> Value {
    response(id, name, json!({ "error": crate::NOT_RECORDED }))
}

fn result(value: &Value) -> CallResult {
    let response = value.get("response").cloned().unwrap_or_default();
    let error = response.get("error").filter(|error| !error.is_null());
    let said = error.or_else(|| response.get("output")).unwrap_or(&response);
    let words = match said {
        Value::Null => None,
        Value::String(words) => Some(words.clone()),
        other => Some(other.to_string()),
    };
    let mut output: Vec<histories::Block> = words.map(histories::Block::Text).into_iter().collect();
    output.extend(value.get("parts").and_then(Value::as_array).into_iter().flatten().map(block));
    CallResult {
        is_error: error.is_some(),
        ..CallResult::new(text(value, "id"), text(value, "name"), output)
    }
}

/// Returns whether JavaScript treats the value as true.
pub(super) fn is_truthy(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(_) => true,
    }
}

/// Returns whether a block is an empty part.
pub(super) fn is_empty_part(block: &Block) -> bool {
    match &block.content {
        histories::Block::Text(text) => text.is_empty(),
        histories::Block::Native { value, .. } => value.as_object().is_some_and(|fields| fields.is_empty()),
        _ => false,
    }
}

/// Leaves out each run of replies with a message that is not valid.
pub(super) fn keep_valid_runs(sent: &mut Sent, is_valid: impl Fn(&Message) -> bool) {
    let mut kept = Vec::with_capacity(sent.messages.len());
    let mut n_dropped = 0;
    for run in sent.messages.chunk_by(|one, next| one.role == Role::Assistant && next.role == Role::Assistant)
    {
        if run[0].role == Role::Assistant && !run.iter().all(&is_valid) {
            n_dropped += run.len();
        } else {
            kept.extend_from_slice(run);
        }
    }
    sent.messages = kept;
    note(sent, "leaves out replies with an empty part", n_dropped);
}

/// Notes a change that the product makes `n` times.
pub(super) fn note(sent: &mut Sent, words: &'static str, n: usize) {
    if n > 0 {
        sent.mended.push((words, n));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_text_with_a_signature_is_sent_without_the_text() {
        let part = json!({ "text": "", "thoughtSignature": "c2ln" });
        let value = json!({ "thoughtSignature": "c2ln" });
        assert_eq!(block(&part), histories::Block::Native { dialect: Dialect::Gemini, value });
    }

    #[test]
    fn errors_and_outputs_are_distinguished() {
        let result = |response: Value| match block(&self::response("c1", "read", response)) {
            histories::Block::Result(result) => (result.text(), result.is_error),
            other => panic!("{other:?}"),
        };
        assert_eq!(result(json!({ "output": "one" })), ("one".to_owned(), false));
        assert_eq!(result(json!({ "error": "gone" })), ("gone".to_owned(), true));
    }
}
