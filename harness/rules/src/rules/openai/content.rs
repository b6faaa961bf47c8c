//! The last check: every message says something.

use super::super::violation::{Breach, Breaches};
use super::table::CONTENT_NULL;
use super::{Role, Said};
use crate::json::Json;

/// What an assistant message may say instead of content.
const INSTEAD_OF_CONTENT: [&str; 4] = ["tool_calls", "function_call", "refusal", "audio"];

/// Checks that the content is not null or missing.
pub(super) fn check(said: Said<'_, '_>, out: &mut Breaches) {
    if !said.lacks_content() {
        return;
    }
    let (n, lacks) = (said.n, |field: &str| said.json.get(field).is_none_or(Json::is_null));
    let needs_content = match said.role {
        Some(Role::System | Role::User | Role::Tool) => true,
        Some(Role::Assistant) => INSTEAD_OF_CONTENT.into_iter().all(lacks),
        Some(Role::Function) | None => false,
    };
    if needs_content {
        let pointer = match said.content {
            Some(_) => format!("/messages/{n}/content"),
            None => format!("/messages/{n}"),
        };
        out.add(&CONTENT_NULL, || Breach::at(pointer).param(format!("messages.[{n}].content")));
    }
}
