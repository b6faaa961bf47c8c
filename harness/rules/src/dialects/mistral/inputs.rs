//! Images and sounds, which only some models accept.
//!
//! The model may be known only at the end, so a bounded number of them is kept until then.

use super::MistralMessage;
use crate::json::Json;
use crate::{Ability, Occurrence, Profile, Rule, Violations, Waiting, ability_of};

/// The images and sounds of a request.
#[derive(Debug)]
pub(super) struct Inputs {
    profile: &'static Profile,
    /// Their pointers. The key is the index of the error message.
    found: Waiting<usize, String>,
}

impl Inputs {
    pub(super) fn of(profile: &'static Profile) -> Inputs {
        Inputs { profile, found: Waiting::new() }
    }

    pub(super) fn message(&mut self, said: MistralMessage<'_, '_>) {
        let n = said.n;
        for (k, part) in said.content.into_iter().flat_map(Json::items).enumerate() {
            let form = match part.field("type").as_str().as_deref() {
                Some("image_url") => IMAGE,
                Some("input_audio") => SOUND,
                _ => continue,
            };
            self.found.push(form, || format!("/messages/{n}/content/{k}"));
        }
    }

    /// Reports those that the model is known not to accept.
    pub(super) fn finish(&mut self, body: Json, out: &mut Violations) {
        let model = body.field("model").as_str();
        for (form, pointer) in self.found.take() {
            let ability = if form == IMAGE { Ability::Images } else { Ability::Audio };
            let takes = model.as_deref().and_then(|model| ability_of(self.profile, model, ability));
            if takes == Some(false) {
                out.add(&INPUT_NOT_ENABLED, || Occurrence::at(pointer).form(form).code(NOT_ENABLED));
            }
        }
    }
}

/// The error code for an input that the model does not accept.
const NOT_ENABLED: &str = "3051";

// Indexes of the error messages.
const IMAGE: usize = 0;
const SOUND: usize = 1;

pub(crate) static INPUT_NOT_ENABLED: Rule = Rule {
    summary: "The model accepts the images and sounds of the conversation.",
    why: "An image or a sound stayed in the thread when the model was changed, or came from a tool. Leave it out of \
          requests to this model, or replace it with a text.",
    sentences: &["Image input is not enabled for this model", "Audio input is not enabled for this model"],
    sources: &[
        "https://github.com/maruel/genai/blob/main/providers/mistral/scoreboard.json",
        "https://docs.mistral.ai/capabilities/vision/",
        "https://docs.mistral.ai/capabilities/audio/",
    ],
    ..Rule::measured("mistral/input-not-enabled", "MIS-IN-1", 6, "2025-08")
};
