//! Images and sounds: images are the user's, and only some models accept sounds.
//!
//! The model may be known only at the end, so a bounded number of them is kept until then.

use super::{ChatMessage, ChatRole};
use crate::json::Json;
use crate::{Ability, MAX_VIOLATIONS, Occurrence, Profile, Rule, Violations, ability_of};

/// Images in messages that are not the user's, and sounds in those that are.
#[derive(Debug, Default)]
pub(super) struct Media {
    images: Vec<StrayImage>,
    /// The message and the part of each sound.
    sounds: Vec<(usize, usize)>,
}

#[derive(Debug)]
struct StrayImage {
    n: usize,
    k: usize,
    role: String,
}

impl Media {
    pub(super) fn message(&mut self, said: ChatMessage<'_, '_>) {
        let Some(content) = said.content.filter(|content| content.is_array()) else { return };
        let n = said.n;
        let first = |kind: &str| content.items().position(|part| part.field("type").is(kind));
        match said.role {
            Some(ChatRole::User) if self.sounds.len() < MAX_VIOLATIONS => {
                self.sounds.extend(first("input_audio").map(|k| (n, k)));
            }
            Some(ChatRole::System | ChatRole::Assistant | ChatRole::Tool)
                if self.images.len() < MAX_VIOLATIONS =>
            {
                let Some(k) = first("image_url") else { return };
                let role = said.written_role.and_then(|role| role.as_str()).unwrap_or_default().into_owned();
                self.images.push(StrayImage { n, k, role });
            }
            _ => {}
        }
    }

    /// Reports the images and sounds. If nothing is known about a model, its images are only warnings, and
    /// sounds pass.
    pub(super) fn finish(&mut self, profile: &Profile, body: Json, out: &mut Violations) {
        if self.images.is_empty() && self.sounds.is_empty() {
            return;
        }
        let model = body.field("model").as_str();
        let has = |ability| model.as_deref().and_then(|model| ability_of(profile, model, ability));
        let hears = has(Ability::Audio) != Some(false);
        for (n, k) in self.sounds.drain(..).filter(|_| !hears) {
            out.add(&INPUT_NOT_ENABLED, || {
                let violation = Occurrence::at(format!("/messages/{n}/content/{k}"));
                violation.param(format!("messages[{n}]")).code("invalid_value").with("n", n)
            });
        }
        let takes = has(Ability::ImagesOutsideUserMessages);
        for StrayImage { n, k, role } in self.images.drain(..) {
            let violation = || {
                let violation = Occurrence::at(format!("/messages/{n}/content/{k}"));
                violation
                    .param(format!("messages[{n}]"))
                    .code("invalid_value")
                    .with("n", n)
                    .with("role", role)
            };
            match takes {
                Some(true) => {}
                Some(false) => out.add(&IMAGE_OUTSIDE_USER, violation),
                None => out.warn(&IMAGE_OUTSIDE_USER, violation),
            }
        }
    }
}

pub(crate) static IMAGE_OUTSIDE_USER: Rule = Rule {
    summary: "Only user messages have images.",
    why: "A tool returned an image, such as a screenshot, or a reply with an image was stored. Send the image \
         in a user message after the results, and keep a text in its place.",
    sentences: &[
        "Invalid 'messages[{n}]'. Image URLs are only allowed for messages with role 'user', but this message with role \
         '{role}' contains an image URL.",
    ],
    sources: &[
        "https://github.com/OpenHands/OpenHands/issues/7700",
        "https://github.com/openai/openai-node/issues/1030",
        "https://github.com/openai/openai-openapi/issues/523",
    ],
    ..Rule::measured("openai-chat/image-outside-user", "OAI-IMG-1", 1, "2024-09")
};

pub(crate) static INPUT_NOT_ENABLED: Rule = Rule {
    summary: "The model accepts the sounds of the conversation.",
    why: "A sound stayed in the thread when the model was changed, or came from a tool. Leave it out of requests to \
         this model, or replace it with a text.",
    sentences: &["Invalid 'messages[{n}]'. Content blocks are expected to be either text or image_url type."],
    sources: &[
        "https://github.com/pydantic/pydantic-ai/tree/main/tests/models/cassettes/test_multimodal_tool_returns",
    ],
    ..Rule::observed("openai-chat/input-not-enabled", "OAI-IN-1", 1, "2026-03")
};
