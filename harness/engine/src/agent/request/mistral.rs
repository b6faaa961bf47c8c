//! Mistral: what our agent posts. The messages are those of OpenAI Chat Completions.

use serde_json::Value;

use super::openai::OpenaiChat;
use super::{Asks, string};
use crate::agent::Tool;
use crate::agent::thread::Message;

/// Requests of `mistral`.
pub(super) struct Mistral;

impl Asks for Mistral {
    fn current_model(&self) -> &'static str {
        "mistral-large-latest"
    }

    fn tool(&self, tool: &Tool) -> Value {
        OpenaiChat.tool(tool)
    }

    fn before(&self, out: &mut Vec<u8>, model: &str) {
        string(out, br#"{"model":"#, model);
        out.extend_from_slice(br#","messages":"#);
    }

    fn takes_id(&self, id: &str) -> bool {
        id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
    }

    /// Refused for years, and by some models to this day (charmbracelet/crush#279, lijunzh/koda#886).
    fn wants_word_after_results(&self) -> bool {
        true
    }

    fn messages(&self, out: &mut Vec<u8>, thread: &[Message]) {
        OpenaiChat.messages(out, thread);
    }
}
