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
use super::fields::{Role, call, either, parts, response};
use super::table::{THOUGHT_SIGNATURE_CORRUPTED, THOUGHT_SIGNATURE_MISSING};
use crate::json::Json;

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
    /// The index of the content.
    n: usize,
    pointer: String,
    name: Cow<'a, str>,
}

impl<'a> Signatures<'a> {
    /// At the beginning of a request to a provider with that memory.
    pub(super) fn of(memory: &'a Memory) -> Signatures<'a> {
        Signatures { memory, missing: Vec::new(), foreign: Vec::new() }
    }

    /// Takes the next content.
    pub(super) fn content(&mut self, n: usize, content: Json<'_, 'a>) {
        if Role::of(content) == Some(Role::User)
            && parts(n, content).all(|part| response(part.value).is_none())
        {
            self.missing.clear();
            return self.foreign.clear();
        }
        self.check_issued(n, content);
        let mut calls = parts(n, content).filter_map(|part| Some((part, call(part.value)?)));
        let Some((part, (field, call))) = calls.next() else { return };
        let signature = either(part.value, "thoughtSignature", "thought_signature");
        let is_signed = signature.is_some_and(|(_, signature)| !signature.is_empty_str());
        if !is_signed && self.missing.len() < MAX_VIOLATIONS {
            let pointer = format!("{}/{field}", part.pointer());
            let name = call.field("name").as_str().unwrap_or_default();
            self.missing.push(Unsigned { n, pointer, name });
        }
    }

    /// Notes the signatures of calls that are not the provider's. Whether it looks at earlier turns nobody has measured.
    fn check_issued(&mut self, n: usize, content: Json) {
        if !self.memory.is_whole() {
            return;
        }
        for part in parts(n, content).filter(|part| call(part.value).is_some()) {
            let signature = either(part.value, "thoughtSignature", "thought_signature");
            let Some((field, signature)) = signature else { continue };
            let is_foreign = |text: Cow<str>| !text.is_empty() && !self.memory.signatures.takes(&text);
            if signature.as_str().is_some_and(is_foreign) && self.foreign.len() < MAX_VIOLATIONS {
                self.foreign.push(format!("{}/{field}", part.pointer()));
            }
        }
    }

    /// Nothing more comes. `model` is the version of the model that is asked, if it is known.
    pub(super) fn finish(
        &mut self,
        switches: &GeminiSwitches,
        model: Option<ModelVersion>,
        out: &mut Breaches,
    ) {
        let needs_signature = model.map(|model| model >= switches.first_with_signatures);
        for Unsigned { n, pointer, name } in self.missing.drain(..) {
            // The provider counts contents from 1.
            let breach = || Breach::at(pointer).with("name", name).with("p", n + 1);
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
