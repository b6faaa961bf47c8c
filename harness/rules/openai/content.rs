//! The last check: every message says something.

use super::super::violation::{Breach, Breaches};
use super::Role;
use super::table::CONTENT_NULL;
use crate::json::Json;

/// What an assistant message may say instead of content.
const INSTEAD_OF_CONTENT: [&str; 4] = ["tool_calls", "function_call", "refusal", "audio"];

/// Checks that no content is null or missing.
pub(super) fn check(messages: &[Json], out: &mut Breaches) {
    let is_null = |message: &Json, field| message.get(field).is_none_or(Json::is_null);
    for (n, message) in messages.iter().enumerate() {
        let needs_content = match Role::of(message) {
            Some(Role::Prompt | Role::Tool) => true,
            Some(Role::Assistant) => INSTEAD_OF_CONTENT.iter().all(|field| is_null(message, *field)),
            Some(Role::Function) | None => false,
        };
        if !needs_content || !is_null(message, "content") {
            continue;
        }
        let pointer = match message.get("content") {
            Some(_) => format!("/messages/{n}/content"),
            None => format!("/messages/{n}"),
        };
        out.add(&CONTENT_NULL, || {
            Breach::at(pointer, "Invalid value for 'content': expected a string, got null.".to_owned())
                .param(format!("messages.[{n}].content"))
        });
    }
}
