//! Blocks that do not belong to this API: blocks of another dialect, and blocks without a type.
//!
//! An unknown type passes, because new ones appear every month. A type from another API is rejected:
//! a thread that was stored by one provider and sent to another is full of them.

use super::block::{ContentBlock, Field};
use super::schema::{BlockSpot, Complaint, REQUEST_SHAPE};
use crate::json::Json;
use crate::{Occurrence, Rule, Violations};

/// Checks the type of a block of unknown kind.
pub(super) fn check_block(spot: BlockSpot, block: &ContentBlock, out: &mut Violations) {
    check_tag(block.get(Field::Type), TagSpot { block: spot, inner: None }, out);
}

/// Checks the content of a result: a text, or a list of blocks. If the tool failed, the list may have only
/// texts.
pub(super) fn check_result(spot: BlockSpot, block: &ContentBlock, out: &mut Violations) {
    let Some(content) = block.get(Field::Content).filter(|content| !content.is_null()) else { return };
    if !content.is_array() {
        if !content.is_str() {
            spot.complain(out, &REQUEST_SHAPE, "content", Complaint::NotString);
        }
        return;
    }
    let has_failed = block.get(Field::IsError).and_then(Json::as_bool) == Some(true);
    let mut is_mixed = false;
    for (k, inner) in content.items().enumerate() {
        let tag = inner.get("type");
        if tag.is_some_and(|tag| tag.is("text")) {
            continue;
        }
        if inner.is_object() {
            check_tag(tag, TagSpot { block: spot, inner: Some(k) }, out);
        }
        is_mixed |= tag.is_some_and(Json::is_str);
    }
    if has_failed && is_mixed {
        spot.refuse(out, &TOOL_RESULT_ERROR_NOT_TEXT, "");
    }
}

/// A block, or a block within the content of a result.
struct TagSpot<'s> {
    block: BlockSpot<'s>,
    inner: Option<usize>,
}

impl TagSpot<'_> {
    fn pointer(&self) -> String {
        let block = self.block.pointer("");
        self.inner.map_or(block.clone(), |k| format!("{block}/content/{k}"))
    }

    fn path(&self) -> String {
        let block = self.block.path("");
        self.inner.map_or(block.clone(), |k| format!("{block}.content.{k}"))
    }
}

fn check_tag(tag: Option<Json>, spot: TagSpot, out: &mut Violations) {
    match tag {
        Some(tag) if tag.is_str() => {
            let Some(name) = tag.as_str().filter(|name| FOREIGN.contains(&name.as_ref())) else { return };
            out.add(&BLOCK_TYPE_FOREIGN, || {
                let violation = Occurrence::at(format!("{}/type", spot.pointer()));
                let form = usize::from(spot.inner.is_some());
                violation.form(form).with("path", spot.path()).with("tag", name)
            });
        }
        // Reported at the block, so that the pointer resolves.
        _ => out.add(&REQUEST_SHAPE, || {
            let complaint = if tag.is_some() { Complaint::NotString } else { Complaint::Missing };
            let pointer = if tag.is_some() { format!("{}/type", spot.pointer()) } else { spot.pointer() };
            Occurrence::at(pointer).form(complaint as usize).with("path", format!("{}.type", spot.path()))
        }),
    }
}

/// Types of parts and items in OpenAI Chat Completions, OpenAI Responses and Mistral, and in messages stored
/// by the AI SDK and LangChain. Type names that this API could adopt itself, such as `file`, are left out.
const FOREIGN: [&str; 33] = [
    "image_url",
    "input_audio",
    "document_url",
    "input_text",
    "input_image",
    "input_file",
    "output_text",
    "reasoning",
    "reasoning_text",
    "summary_text",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "item_reference",
    "computer_call",
    "computer_call_output",
    "local_shell_call",
    "local_shell_call_output",
    "shell_call",
    "shell_call_output",
    "apply_patch_call",
    "apply_patch_call_output",
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
    "mcp_list_tools",
    "tool_call",
    "tool-call",
    "tool-result",
    "thoughtSignature",
];

pub(crate) static BLOCK_TYPE_FOREIGN: Rule = Rule {
    summary: "No block has a type of another API.",
    why: "The thread began with another provider, or the client sent messages in its own stored \
         form. Translate each block: an `image_url` is an `image`, a `tool-call` a `tool_use`; drop \
         reasoning of another provider.",
    sentences: &[
        "{path}: Input tag '{tag}' found using 'type' does not match any of the expected tags: 'document', 'image', \
         'redacted_thinking', 'search_result', 'server_tool_use', 'text', 'thinking', 'tool_result', 'tool_use', \
         'web_search_tool_result'",
        "{path}: Input tag '{tag}' found using 'type' does not match any of the expected tags: 'document', 'image', \
         'search_result', 'text', 'tool_reference'",
    ],
    sources: &[
        "https://github.com/RooCodeInc/Roo-Code/issues/9583",
        "https://github.com/AstrBotDevs/AstrBot/pull/4444",
        "https://github.com/RooCodeInc/Roo-Code/pull/9618",
    ],
    ..Rule::observed("anthropic-messages/block-type-foreign", "ANT-TYPE-1", 1, "2025-11")
};

pub(crate) static TOOL_RESULT_ERROR_NOT_TEXT: Rule = Rule {
    summary: "The result of a tool that failed has only texts.",
    why: "A tool failed and its result has more than text, often a screenshot that was taken \
         before. Once it is stored, every request is rejected. Keep the texts, and put the image \
         into a block of its own after the results.",
    sentences: &["{path}: all content must be type `text` if `is_error` is true"],
    sources: &[
        "https://github.com/vellum-ai/vellum-assistant/pull/18387",
        "https://github.com/can1357/oh-my-pi/issues/12809",
        "https://github.com/caozhiyuan/copilot-api/pull/196",
    ],
    ..Rule::measured("anthropic-messages/tool-result-error-not-text", "ANT-TR-6", 1, "2026-03")
};
