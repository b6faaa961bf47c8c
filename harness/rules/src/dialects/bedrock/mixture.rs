//! Kinds of blocks that a message may have only together, or not together.
//!
//! The model may be known only at the end, so what depends on it is kept until then.

use super::{ConverseBlock, ConverseKind, ConverseMessage, ConverseRole, Model, Served};
use crate::{Ability, MAX_VIOLATIONS, Occurrence, Rule, Violations};

/// Findings that count only for some models.
#[derive(Debug, Default)]
pub(super) struct Mixture {
    /// Messages with a text next to calls (first error message) or next to results (second).
    mixed: Vec<(usize, usize)>,
    /// Empty texts, by message and block.
    blank: Vec<(usize, usize)>,
    /// Texts of white space, by message and block, and whether their message has nothing else.
    pale: Vec<(usize, usize, bool)>,
    /// Videos, by message and block.
    videos: Vec<(usize, usize)>,
}

impl Mixture {
    pub(super) fn message(&mut self, message: ConverseMessage<'_, '_, '_>, out: &mut Violations) {
        let n = message.n;
        let has = |kind| message.blocks.iter().position(|block| block.kind == kind);
        if let Some(b) = has(ConverseKind::Document)
            && message.role == Some(ConverseRole::User)
            && has(ConverseKind::Text).is_none()
        {
            out.add(&DOCUMENT_WITHOUT_TEXT, || Occurrence::at(format!("/messages/{n}/content/{b}")));
        }
        let form = match (has(ConverseKind::ToolUse), has(ConverseKind::ToolResult)) {
            (Some(_), _) => Some(WITH_CALLS),
            (None, Some(_)) => Some(WITH_RESULTS),
            (None, None) => None,
        };
        if let Some(form) = form.filter(|_| has(ConverseKind::Text).is_some())
            && self.mixed.len() < MAX_VIOLATIONS
        {
            self.mixed.push((n, form));
        }
        let is_pale = |block: &ConverseBlock| {
            block.kind == ConverseKind::Text
                && message.value(block).is_some_and(|text| text.is_blank() && !text.is_empty_str())
        };
        let is_all =
            message.blocks.iter().all(|block| block.kind == ConverseKind::CachePoint || is_pale(block));
        for (b, block) in message.blocks.iter().enumerate() {
            if is_pale(block) && self.pale.len() < MAX_VIOLATIONS {
                self.pale.push((n, b, is_all));
            }
            let is_blank = block.kind == ConverseKind::Text
                && message.value(block).is_some_and(|text| text.is_empty_str());
            if is_blank && self.blank.len() < MAX_VIOLATIONS {
                self.blank.push((n, b));
            }
            if block.kind == ConverseKind::Video && self.videos.len() < MAX_VIOLATIONS {
                self.videos.push((n, b));
            }
        }
    }

    pub(super) fn finish(&mut self, served: Served<'_>, model: Model, out: &mut Violations) {
        let may_be_blank = served.has(Ability::BlankText) == Some(true);
        for (n, b) in self.blank.drain(..) {
            let violation =
                || Occurrence::at(format!("/messages/{n}/content/{b}/text")).with("n", n).with("b", b);
            if may_be_blank {
                out.warn(&super::schema::TEXT_BLANK, violation)
            } else {
                out.add(&super::schema::TEXT_BLANK, violation)
            }
        }
        let mut before = None;
        for (n, b, is_all) in self.pale.drain(..) {
            let violation =
                || Occurrence::at(format!("/messages/{n}/content/{b}/text")).with("n", n).with("b", b);
            match model {
                // Its own check is about a message with nothing else.
                Model::Claude(_) if is_all && before.replace(n) != Some(n) => {
                    out.add(&super::claude::MODEL_TEXT_BLANK, violation)
                }
                Model::Claude(_) if is_all => {}
                // A recorded reply shows that a text with only a line feed was accepted next to another text.
                _ => out.warn(&super::schema::TEXT_BLANK, violation),
            }
        }
        let lacks_video = served.has(Ability::Video) == Some(false);
        for (n, b) in self.videos.drain(..).filter(|_| lacks_video) {
            out.add(&INPUT_NOT_ENABLED, || Occurrence::at(format!("/messages/{n}/content/{b}")));
        }
        let separates = match (model, served.has(Ability::TextBesideTools)) {
            (_, Some(has)) => Some(!has),
            (Model::Meta, None) => None,
            // Claude and Nova take both, and nothing is known about the others.
            (Model::Claude(_) | Model::Amazon | Model::Other | Model::Unknown, None) => Some(false),
        };
        for (n, form) in self.mixed.drain(..) {
            let violation = || Occurrence::at(format!("/messages/{n}/content")).form(form).with("n", n);
            match separates {
                Some(true) => out.add(&MODEL_TEXT_BESIDE_TOOLS, violation),
                Some(false) => {}
                None => out.warn(&MODEL_TEXT_BESIDE_TOOLS, violation),
            }
        }
    }
}

// Indexes of the error messages of the rule about texts next to calls and results.
const WITH_CALLS: usize = 0;
const WITH_RESULTS: usize = 1;

pub(crate) static DOCUMENT_WITHOUT_TEXT: Rule = Rule {
    summary: "A message with a document has a text.",
    why: "A file was sent without a question, or was put after the results of tools. Add a text block to \
         the message, if only the name of the file.",
    sentences: &[
        "A text block must be included when using documents. Add a text block and retry your request.",
    ],
    sources: &[
        "https://github.com/archestra-ai/archestra/pull/4220",
        "https://github.com/BerriAI/litellm/pull/36499",
    ],
    ..Rule::measured("bedrock-converse/document-without-text", "BDR-DOC-1", 2, "2026-04")
};

pub(crate) static INPUT_NOT_ENABLED: Rule = Rule {
    summary: "The model accepts the videos of the conversation.",
    why: "A video stayed in the thread when the model was changed, or came from a tool. Leave it out of requests to \
         this model, or replace it with a text.",
    sentences: &[
        "This model doesn't support the video content block that you provided. Update the content block and try again.",
    ],
    sources: &[
        "https://github.com/pydantic/pydantic-ai/tree/main/tests/models/cassettes/test_multimodal_tool_returns",
    ],
    ..Rule::observed("bedrock-converse/input-not-enabled", "BDR-IN-1", 2, "2026-03")
};

pub(crate) static MODEL_TEXT_BESIDE_TOOLS: Rule = Rule {
    summary: "For Llama, text is in another message than calls and results.",
    why: "A reply has both text and calls, or the user wrote again before the model had read the results. \
         Leave out the text of a reply that makes calls, and put a reply between results and the next prompt.",
    sentences: &[
        "messages.{n}.content: Conversation blocks and tool use blocks cannot be provided in the same turn.",
        "messages.{n}.content: Conversation blocks and tool result blocks cannot be provided in the same turn.",
    ],
    sources: &[
        "https://github.com/strands-agents/harness-sdk/issues/1223",
        "https://github.com/quarkiverse/quarkus-langchain4j/issues/1983",
        "https://github.com/langchain-ai/langchain-aws/issues/141",
    ],
    ..Rule::measured("bedrock-converse/model-text-beside-tools", "BDR-MODEL-MIX-1", 10, "2024-08")
};
