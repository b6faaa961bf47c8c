//! The last check: every message has content.

use super::{ChatMessage, ChatRole};
use crate::json::Json;
use crate::{Occurrence, Rule, Violations};

/// Fields that can replace the content of an assistant message.
const INSTEAD_OF_CONTENT: [&str; 4] = ["tool_calls", "function_call", "refusal", "audio"];

/// Checks that the content is not null or missing.
pub(super) fn check(said: ChatMessage<'_, '_>, out: &mut Violations) {
    if !said.lacks_content() {
        return;
    }
    let (n, lacks) = (said.n, |field: &str| said.json.get(field).is_none_or(Json::is_null));
    let needs_content = match said.role {
        Some(ChatRole::System | ChatRole::User | ChatRole::Tool) => true,
        Some(ChatRole::Assistant) => INSTEAD_OF_CONTENT.into_iter().all(lacks),
        Some(ChatRole::Function) | None => false,
    };
    if needs_content {
        let pointer = match said.content {
            Some(_) => format!("/messages/{n}/content"),
            None => format!("/messages/{n}"),
        };
        let form = usize::from(said.role == Some(ChatRole::Assistant));
        out.add(&CONTENT_NULL, || {
            Occurrence::at(pointer).form(form).param(format!("messages.[{n}].content")).with("n", n)
        });
    }
}

pub(crate) static CONTENT_NULL: Rule = Rule {
    summary: "A message has content, unless it is an assistant message with calls or a refusal.",
    why: "A message without content was stored, as happens when a reply is stopped before its first token. \
         Drop the message if it says nothing, or use an empty string. Some servers want the key also beside calls.",
    sentences: &["Invalid value for 'content': expected a string, got null."],
    sources: &[
        "https://github.com/docker/docker-agent/issues/63",
        "https://github.com/langchain-ai/langchainjs/issues/4153",
    ],
    ..Rule::measured("openai-chat/content-null", "OAI-MSG-2", 3, "2024-02")
};
