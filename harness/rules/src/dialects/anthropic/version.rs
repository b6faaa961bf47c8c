//! Content that the API rejects since the version 2026-10-21.
//!
//! The page about the migration says that each of these returns an error with status 400
//! (<https://platform.claude.com/docs/en/api/migration-2026-10-21>). Its words are not public: the sentences here
//! follow those for other misplaced blocks and unknown keys.

use super::block::{AnthropicRole, ContentBlock};
use crate::json::Json;
use crate::{Occurrence, Rule, Violations};

/// Checks a block that is written out.
pub(super) fn check_block(role: AnthropicRole, block: &ContentBlock<'_, '_>, out: &mut Violations) {
    let place = block.place;
    match role {
        AnthropicRole::Assistant if block.json.field("type").is("document") => {
            out.add(&DOCUMENT_OUTSIDE_USER, || Occurrence::at(place.pointer()).with("n", place.message));
        }
        AnthropicRole::User => {
            check_text(block.json, &place.pointer(), &place.path(), out);
            let inner = block.json.field("content");
            if block.json.field("type").is("search_result") {
                check_texts(inner, &place.pointer(), &place.path(), out);
            } else if block.json.field("type").is("tool_result") {
                for (k, found) in inner.items().enumerate() {
                    if found.field("type").is("search_result") {
                        let pointer = format!("{}/content/{k}", place.pointer());
                        let path = format!("{}.tool_result.content.{k}", place.path());
                        check_texts(found.field("content"), &pointer, &path, out);
                    }
                }
            }
        }
        _ => {}
    }
}

/// Checks the texts in a search result.
fn check_texts(content: Json, pointer: &str, path: &str, out: &mut Violations) {
    for (k, text) in content.items().enumerate() {
        let pointer = format!("{pointer}/content/{k}");
        check_text(text, &pointer, &format!("{path}.search_result.content.{k}"), out);
    }
}

fn check_text(block: Json, pointer: &str, path: &str, out: &mut Violations) {
    let citations = block.field("citations");
    if block.field("type").is("text") && citations.is_array() && !citations.is_empty() {
        out.add(&CITATIONS_OUTSIDE_ASSISTANT, || {
            Occurrence::at(format!("{pointer}/citations")).with("path", path)
        });
    }
}

/// The parameters for sampling. The rule is about the settings of a request, not about its history.
const SAMPLING: [&str; 3] = ["temperature", "top_p", "top_k"];

pub(super) fn check_body(body: Json, out: &mut Violations) {
    for key in SAMPLING {
        if !body.field(key).is_null() {
            out.add(&SAMPLING_PARAMETER, || Occurrence::at(format!("/{key}")).with("key", key));
        }
    }
}

pub(crate) static DOCUMENT_OUTSIDE_USER: Rule = Rule {
    summary: "A document is not directly in an assistant message.",
    why: "A document was stored as part of a reply, or another provider's reply had a file. Send it in a user \
         message. Documents inside a result, such as that of the web fetch tool, are accepted.",
    sentences: &["messages.{n}: `document` blocks can only be in `user` messages"],
    is_optional: true,
    sources: &["https://platform.claude.com/docs/en/api/migration-2026-10-21"],
    ..Rule::inferred("anthropic-messages/document-outside-user", "ANT-V26-1", 7, "2026-10")
};

pub(crate) static CITATIONS_OUTSIDE_ASSISTANT: Rule = Rule {
    summary: "A text of a user message has no citations.",
    why: "The text of a reply was copied with its citations into a user message, as summaries and hand-offs do. \
         Remove `citations` from it.",
    sentences: &["{path}.text.citations: Extra inputs are not permitted"],
    is_optional: true,
    sources: &["https://platform.claude.com/docs/en/api/migration-2026-10-21"],
    ..Rule::inferred("anthropic-messages/citations-outside-assistant", "ANT-V26-2", 2, "2026-10")
};

pub(crate) static SAMPLING_PARAMETER: Rule = Rule {
    summary: "The request has no `temperature`, `top_p` or `top_k`.",
    why: "The parameters were removed from this version of the API. Leave them out.",
    sentences: &["{key}: Extra inputs are not permitted"],
    is_optional: true,
    sources: &["https://platform.claude.com/docs/en/api/migration-2026-10-21"],
    ..Rule::inferred("anthropic-messages/sampling-parameter", "ANT-V26-3", 2, "2026-10")
};
