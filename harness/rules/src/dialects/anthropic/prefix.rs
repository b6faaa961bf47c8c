//! Hashes of everything before a thinking block, independent of formatting.
//!
//! "The top-level `system` prompt, `tools`, and `messages` before the block are its prefix"
//! (<https://platform.claude.com/docs/build-with-claude/preserved-thinking>). Cache markers do not count
//! (<https://docs.litellm.ai/docs/providers/anthropic_preserved_thinking>). These hashes also ignore
//! whether a text is a string or a block, where messages of one role are split, and thinking itself,
//! because no rejection for such a difference was seen.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::block::{AnthropicRole, BlockKind, ContentBlock, Field, MessageParts};
use crate::Bound;
use crate::json::Json;

#[derive(Debug, Clone, Default)]
pub(super) struct Messages {
    hasher: DefaultHasher,
    speaker: Option<AnthropicRole>,
}

impl Messages {
    /// Begins a message, and a new turn if the role changes.
    pub(super) fn begin(&mut self, role: AnthropicRole) {
        if self.speaker.replace(role) != Some(role) {
            (role as u8).hash(&mut self.hasher);
        }
    }

    pub(super) fn block(&mut self, block: &ContentBlock) {
        match block.kind {
            kind if kind.is_thought() => {}
            BlockKind::Text(_) => {
                let text =
                    if block.place.is_written_out() { block.get(Field::Text) } else { Some(block.json) };
                text.and_then(Json::as_str).unwrap_or_default().hash(&mut self.hasher);
            }
            _ => hash_fields(block.json, &mut self.hasher),
        }
    }

    pub(super) fn speaker(&self) -> Option<AnthropicRole> {
        self.speaker
    }

    /// Returns the hash of the messages so far.
    pub(super) fn hash(&self) -> u64 {
        self.hasher.finish()
    }
}

/// Returns the prefix to which a reply to this request is bound. `None` if the reply continues an
/// assistant message, because the start of that message is unknown.
pub(super) fn bound_of(request: Json) -> Option<Bound> {
    let mut messages = Messages::default();
    for (n, message) in request.field("messages").items().enumerate() {
        let message = MessageParts::read(message);
        messages.begin(message.speaker());
        message.each_block(n, |block| messages.block(block));
    }
    let is_open = messages.speaker == Some(AnthropicRole::Assistant);
    let (system, tools) = around(request);
    (!is_open).then(|| Bound { system, tools, messages: messages.hash() })
}

/// Returns the hashes of the system prompt and of the tools.
pub(super) fn around(body: Json) -> (u64, u64) {
    let (mut system, mut tools) = (DefaultHasher::new(), DefaultHasher::new());
    match body.field("system") {
        text if text.is_str() => text.as_str().hash(&mut system),
        blocks => {
            for block in blocks.items() {
                match block.field("text") {
                    text if text.is_str() => text.as_str().hash(&mut system),
                    _ => hash_fields(block, &mut system),
                }
            }
        }
    }
    body.field("tools").items().for_each(|tool| hash_fields(tool, &mut tools));
    (system.finish(), tools.finish())
}

/// Hashes the fields of an object sorted by name. Values are hashed as raw text, so nesting costs nothing.
fn hash_fields(object: Json, hasher: &mut DefaultHasher) {
    let mut fields: Vec<(String, &str)> = object
        .fields()
        .map(|(name, value)| (name.as_str().unwrap_or_default().into_owned(), value.raw()))
        .filter(|(name, _)| name != "cache_control")
        .collect();
    fields.sort_unstable();
    fields.hash(hasher);
}
