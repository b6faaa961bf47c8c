//! Thought signatures: the first call in each of the model's contents must keep its signature.
//!
//! Only the current turn is checked, which begins with the user's last message. Within one content, only
//! the first call is signed. A call in a separate content needs its own signature
//! (<https://github.com/pipecat-ai/pipecat/pull/3420>). A provider that remembers the signatures that it
//! issued rejects any other. The exceptions are two documented placeholders for calls that another model
//! made: `skip_thought_signature_validator` and `context_engineering_is_the_way_to_go`.

use std::borrow::Cow;

use super::fields::{Part, PartPosition};
use super::switches::GeminiSwitches;
use crate::{MAX_VIOLATIONS, Memory, ModelVersion, Occurrence, Rule, Violations};

/// Calls of the current turn without a signature, and signatures that the provider never issued.
#[derive(Debug)]
pub(super) struct Signatures<'a> {
    memory: &'a Memory,
    missing: Vec<Unsigned<'a>>,
    /// Pointers to the foreign signatures.
    foreign: Vec<String>,
}

#[derive(Debug)]
struct Unsigned<'a> {
    place: PartPosition,
    /// The name of the field with the call.
    field: &'static str,
    name: Cow<'a, str>,
}

impl<'a> Signatures<'a> {
    /// Starts a request to a provider with this memory.
    pub(super) fn of(memory: &'a Memory) -> Signatures<'a> {
        Signatures { memory, missing: Vec::new(), foreign: Vec::new() }
    }

    /// Takes the next part. `is_first_call` is true if its content has no earlier call.
    pub(super) fn part(&mut self, part: &Part<'_, 'a>, is_first_call: bool) {
        let Some((field, call)) = part.call else { return };
        self.check_issued(part);
        let is_signed = part.signature.is_some_and(|(_, signature)| !signature.is_empty_str());
        if is_first_call && !is_signed && self.missing.len() < MAX_VIOLATIONS {
            let name = call.field("name").as_str().unwrap_or_default();
            self.missing.push(Unsigned { place: part.place, field, name });
        }
    }

    /// Records the signature of a call if the provider did not issue it. It is unknown whether the
    /// provider verifies signatures from earlier turns.
    fn check_issued(&mut self, part: &Part<'_, 'a>) {
        let Some((field, signature)) = part.signature.filter(|_| self.memory.is_whole()) else { return };
        let is_foreign = |text: Cow<str>| !text.is_empty() && !self.memory.signatures.takes(&text);
        if signature.as_str().is_some_and(is_foreign) && self.foreign.len() < MAX_VIOLATIONS {
            self.foreign.push(format!("{}/{field}", part.place.pointer()));
        }
    }

    /// Begins a new turn at a user message.
    pub(super) fn begin_turn(&mut self) {
        self.missing.clear();
        self.foreign.clear();
    }

    /// Reports the violations. `model` is the version of the model, if known.
    pub(super) fn finish(
        &mut self,
        switches: &GeminiSwitches,
        model: Option<ModelVersion>,
        out: &mut Violations,
    ) {
        let needs_signature = model.map(|model| model >= switches.first_with_signatures);
        for Unsigned { place, field, name } in self.missing.drain(..) {
            // The provider counts contents from 1.
            let violation = || {
                let violation = Occurrence::at(format!("{}/{field}", place.pointer()));
                violation.with("name", name).with("p", place.n + 1)
            };
            match needs_signature {
                Some(true) => out.add(&THOUGHT_SIGNATURE_MISSING, violation),
                Some(false) => {}
                None => out.warn(&THOUGHT_SIGNATURE_MISSING, violation),
            }
        }
        for pointer in self.foreign.drain(..).filter(|_| needs_signature == Some(true)) {
            out.add(&THOUGHT_SIGNATURE_CORRUPTED, || Occurrence::at(pointer));
        }
    }
}

pub(crate) static THOUGHT_SIGNATURE_MISSING: Rule = Rule {
    summary: "The first call of each step of the turn has its thought signature.",
    why: "The signature that came with the call was not kept. Store `thoughtSignature` with the part, \
         and send it back with the call; for a call that another model made, send \
         `skip_thought_signature_validator`.",
    sentences: &[
        "Function call is missing a thought_signature in functionCall parts. This is required for tools \
         to work correctly, and missing thought_signature may lead to degraded model performance. \
         Additional data, function call `default_api:{name}` , position {p}. Please refer to \
         https://ai.google.dev/gemini-api/docs/thought-signatures for more details.",
    ],
    sources: &[
        "https://github.com/nanbingxyz/5ire/issues/405",
        "https://github.com/lbjlaq/Antigravity-Manager/issues/938",
        "https://github.com/MayDay-wpf/snow-cli/issues/104",
        "https://ai.google.dev/gemini-api/docs/thought-signatures",
    ],
    ..Rule::measured("gemini/thought-signature-missing", "GEM-TS-1", 5, "2025-12")
};

pub(crate) static THOUGHT_SIGNATURE_CORRUPTED: Rule = Rule {
    summary: "A thought signature is one that the provider issued.",
    why: "The signature was cut, made up, or came from another model or session. Send back what came with \
         the call, byte for byte; for a call that another model made, send `skip_thought_signature_validator`.",
    sentences: &["Corrupted thought signature."],
    sources: &[
        "https://github.com/google-gemini/gemini-cli/issues/13467",
        "https://github.com/lbjlaq/Antigravity-Manager/issues/970",
        "https://github.com/charmbracelet/crush/issues/1698",
        "https://github.com/decolua/9router/issues/301",
    ],
    ..Rule::observed("gemini/thought-signature-corrupted", "GEM-TS-3", 5, "2025-11")
};
