//! The last check: every message says something.

use super::super::violation::{Breach, Breaches};
use super::Role;
use super::table::CONTENT_NULL;
use crate::json::Json;

/// What an assistant message may say instead of content.
const INSTEAD_OF_CONTENT: [&str; 4] = ["tool_calls", "function_call", "refusal", "audio"];

/// Checks that the content is not null or missing.
pub(super) fn check(n: usize, role: Option<Role>, message: Json, out: &mut Breaches) {
    let needs_content = match role {
        Some(Role::Prompt | Role::Tool) => true,
        Some(Role::Assistant) => INSTEAD_OF_CONTENT.iter().all(|field| message.field(field).is_null()),
        Some(Role::Function) | None => false,
    };
    if !needs_content || !message.field("content").is_null() {
        return;
    }
    let pointer = match message.get("content") {
        Some(_) => format!("/messages/{n}/content"),
        None => format!("/messages/{n}"),
    };
    out.add(&CONTENT_NULL, || Breach::at(pointer).param(format!("messages.[{n}].content")));
}
