//! Thought signatures: the first call of each content of the model gives back what it was signed with.
//!
//! Only the current turn is looked at, which begins with the last words of the user. Of calls in one content only the
//! first is signed; a call in a content of its own needs a signature of its own
//! (<https://github.com/pipecat-ai/pipecat/pull/3420>). A provider that remembers what it gave out refuses
//! any other, but for two that are documented to stand for a call which another model made,
//! `skip_thought_signature_validator` and `context_engineering_is_the_way_to_go`.

use std::borrow::Cow;

use super::super::profile::{GeminiSwitches, ModelVersion};
use super::super::violation::{Breach, Breaches};
use super::super::{MAX_VIOLATIONS, Memory};
use super::fields::{Part, Place};
use super::table::{THOUGHT_SIGNATURE_CORRUPTED, THOUGHT_SIGNATURE_MISSING};

/// The calls of the current turn that lack a signature, and the signatures that the provider never gave out.
#[derive(Debug)]
pub(super) struct Signatures<'a> {
    memory: &'a Memory,
    missing: Vec<Unsigned<'a>>,
    /// Where the foreign signatures are.
    foreign: Vec<String>,
}

#[derive(Debug)]
struct Unsigned<'a> {
    place: Place,
    /// The field in which the call is.
    field: &'static str,
    name: Cow<'a, str>,
}

impl<'a> Signatures<'a> {
    /// At the beginning of a request to a provider with that memory.
    pub(super) fn of(memory: &'a Memory) -> Signatures<'a> {
        Signatures { memory, missing: Vec::new(), foreign: Vec::new() }
    }

    /// Takes the next part of a content; `is_first_call` says whether no call stands before it there.
    pub(super) fn part(&mut self, part: &Part<'_, 'a>, is_first_call: bool) {
        let Some((field, call)) = part.call else { return };
        self.check_issued(part);
        let is_signed = part.signature.is_some_and(|(_, signature)| !signature.is_empty_str());
        if is_first_call && !is_signed && self.missing.len() < MAX_VIOLATIONS {
            let name = call.field("name").as_str().unwrap_or_default();
            self.missing.push(Unsigned { place: part.place, field, name });
        }
    }

    /// Notes the signature of a call if it is not the provider's. Whether it looks at earlier turns nobody has measured.
    fn check_issued(&mut self, part: &Part<'_, 'a>) {
        let Some((field, signature)) = part.signature.filter(|_| self.memory.is_whole()) else { return };
        let is_foreign = |text: Cow<str>| !text.is_empty() && !self.memory.signatures.takes(&text);
        if signature.as_str().is_some_and(is_foreign) && self.foreign.len() < MAX_VIOLATIONS {
            self.foreign.push(format!("{}/{field}", part.place.pointer()));
        }
    }

    /// The user has spoken: a new turn begins.
    pub(super) fn begin_turn(&mut self) {
        self.missing.clear();
        self.foreign.clear();
    }

    /// Nothing more comes. `model` is the version of the model that is asked, if it is known.
    pub(super) fn finish(
        &mut self,
        switches: &GeminiSwitches,
        model: Option<ModelVersion>,
        out: &mut Breaches,
    ) {
        let needs_signature = model.map(|model| model >= switches.first_with_signatures);
        for Unsigned { place, field, name } in self.missing.drain(..) {
            // The provider counts contents from 1.
            let breach = || {
                let breach = Breach::at(format!("{}/{field}", place.pointer()));
                breach.with("name", name).with("p", place.n + 1)
            };
            match needs_signature {
                Some(true) => out.add(&THOUGHT_SIGNATURE_MISSING, breach),
                Some(false) => {}
                None => out.warn(&THOUGHT_SIGNATURE_MISSING, breach),
            }
        }
        for pointer in self.foreign.drain(..).filter(|_| needs_signature == Some(true)) {
            out.add(&THOUGHT_SIGNATURE_CORRUPTED, || Breach::at(pointer));
        }
    }
}
