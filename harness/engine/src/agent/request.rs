//! From a thread to a request body.
//!
//! Bodies are written as bytes, without a tree of values between: every plan writes several of them. What differs
//! between dialects is said by [`Asks`], and [`of`] is the only place that chooses.

mod anthropic;
mod bedrock;
mod gemini;
mod mistral;
mod openai;
mod responses;

use serde_json::Value;

use super::thread::Message;
use super::{Delivery, Setup, Thinking, Tool};
use brickbat_rules::dialect::Dialect;
use brickbat_scenario::wire::json_string;

fn of(dialect: Dialect) -> &'static dyn Asks {
    match dialect {
        Dialect::AnthropicMessages => &anthropic::AnthropicMessages,
        Dialect::OpenaiChat => &openai::OpenaiChat,
        Dialect::OpenaiResponses => &responses::OpenaiResponses,
        Dialect::Gemini => &gemini::Gemini,
        Dialect::BedrockConverse => &bedrock::BedrockConverse,
        Dialect::Mistral => &mistral::Mistral,
    }
}

/// How a dialect asks for a reply. A body is what stands before the messages, the messages in brackets, and what stands
/// after them.
trait Asks {
    /// The model that is asked where none was named.
    fn current_model(&self) -> &'static str;

    /// The declaration of one tool.
    fn tool(&self, tool: &Tool) -> Value;

    /// The declaration of all tools, of which there is at least one.
    fn tools(&self, tools: &[Tool]) -> Value {
        Value::Array(tools.iter().map(|tool| self.tool(tool)).collect())
    }

    /// Writes the body up to its messages: the last thing is their key with its colon.
    fn before(&self, out: &mut Vec<u8>, model: &str);

    /// The field by which the body asks the model to think, with a comma before it; empty where a dialect has no such
    /// thing, or shows nothing of it.
    fn thinking(&self) -> &'static str {
        ""
    }

    /// Whether the provider takes an id of a call when it comes back.
    fn takes_id(&self, id: &str) -> bool {
        // The shortest bound that was seen is that of OpenAI Chat Completions.
        (1..=40).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    }

    /// Whether a prompt may not follow results, so that the model must have said something between.
    fn wants_word_after_results(&self) -> bool {
        false
    }

    /// Writes the messages of a thread with commas between them, without the brackets.
    fn messages(&self, out: &mut Vec<u8>, thread: &[Message]);

    /// Writes what is left of the body. `declared` is the text of [`Asks::tools`], empty where there are none.
    fn after(&self, out: &mut Vec<u8>, delivery: Delivery, declared: &str) {
        out.extend_from_slice(match delivery {
            Delivery::Streamed => br#","stream":true"#,
            Delivery::Whole => br#","stream":false"#,
        });
        if !declared.is_empty() {
            out.extend_from_slice(br#","tools":"#);
            out.extend_from_slice(declared.as_bytes());
        }
        out.push(b'}');
    }
}

/// The body that asks for the next reply.
pub(super) fn body(setup: &Setup, thread: &[Message]) -> Vec<u8> {
    let mut out = Vec::with_capacity(2048);
    let asks = of(setup.dialect);
    asks.before(&mut out, &setup.model);
    write_messages(&mut out, asks, thread);
    if setup.thinking == Thinking::Asked {
        out.extend_from_slice(asks.thinking().as_bytes());
    }
    asks.after(&mut out, setup.delivery, &setup.declared);
    out
}

/// The messages of a thread, as a JSON array.
pub(super) fn messages(dialect: Dialect, thread: &[Message]) -> Vec<u8> {
    let mut out = Vec::new();
    write_messages(&mut out, of(dialect), thread);
    out
}

fn write_messages(out: &mut Vec<u8>, asks: &dyn Asks, thread: &[Message]) {
    out.push(b'[');
    asks.messages(out, thread);
    out.push(b']');
}

/// Whether the provider takes an id of a call when it comes back.
pub(super) fn takes_id(dialect: Dialect, id: &str) -> bool {
    of(dialect).takes_id(id)
}

/// Whether a prompt may not follow results.
pub(super) fn wants_word_after_results(dialect: Dialect) -> bool {
    of(dialect).wants_word_after_results()
}

/// The model that is asked where none was named.
pub(super) fn current_model(dialect: Dialect) -> &'static str {
    of(dialect).current_model()
}

/// The tools as every request declares them; empty where there are none.
pub(super) fn declared(dialect: Dialect, tools: &[Tool]) -> String {
    match tools {
        [] => String::new(),
        tools => of(dialect).tools(tools).to_string(),
    }
}

/// Writes items with commas between them.
fn list<T>(out: &mut Vec<u8>, items: impl IntoIterator<Item = T>, write: impl Fn(&mut Vec<u8>, T)) {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(out, item);
    }
}

/// Writes what stands before a string, and the string.
fn string(out: &mut Vec<u8>, before: &[u8], text: &str) {
    out.extend_from_slice(before);
    json_string(out, text);
}
