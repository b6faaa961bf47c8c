//! Finds the smallest edit after which the provider accepts the text.

use brickbat_rules::check::{Providers, check};
use brickbat_rules::json::{Document, halves, pointer_at, without_halves};
use brickbat_rules::{Dialect, list_of};
use brickbat_sessions::{FixedBody, Reason, RepairOptions, fix_body};
use serde_json::{Value, json};

use crate::edit;
use crate::question::Asked;
use crate::verdict::{START, Unjudged, checked};

/// The outcome of a repair.
#[derive(Debug, Clone, PartialEq)]
pub enum Repaired {
    /// There is nothing to repair.
    Healthy,
    /// The text with the smallest edit after which the provider accepts it.
    Edited {
        /// The new text.
        text: String,
        /// The edits, each with `pointer`, `words` and `loses`.
        edits: Vec<Value>,
    },
    /// No edit is known.
    Beyond {
        /// The reason.
        reason: String,
        /// True if ending the conversation earlier helps.
        can_truncate: bool,
    },
}

pub(crate) fn repair(asked: &Asked) -> Value {
    let beyond = |reason: String, can_truncate: bool| json!({ "beyond": { "reason": reason, "can_truncate": can_truncate } });
    match repaired(asked) {
        Ok(Repaired::Healthy) => json!({ "healthy": true }),
        Ok(Repaired::Edited { text, edits }) => {
            json!({ "mended": { "text": text, "edits": edits, "pieces": edit::pieces(&asked.text, &text) } })
        }
        Ok(Repaired::Beyond { reason, can_truncate }) => beyond(reason, can_truncate),
        Err(Unjudged { reason, .. }) => beyond(reason, false),
    }
}

fn beyond(reason: &str, can_truncate: bool) -> Repaired {
    Repaired::Beyond { reason: reason.to_owned(), can_truncate }
}

/// Finds the smallest edit after which the provider accepts the text, like `brickbat check --fix`.
///
/// # Errors
///
/// Fails if the text cannot be judged.
pub fn repaired(asked: &Asked) -> Result<Repaired, Unjudged> {
    let before = checked(asked)?;
    if before.status.is_none() {
        return Ok(Repaired::Healthy);
    }
    let Providers::Profile(profile) = before.providers else {
        return Ok(beyond("an edit is for one provider, and a union has several: choose one of them", false));
    };
    // Readers of UTF-8 text cannot parse an unpaired surrogate, and then nothing else in the body could be
    // repaired.
    let whole = without_halves(asked.text.as_bytes());
    let whole = String::from_utf8_lossy(&whole);
    let of_halves = halves_of(&asked.text, &whole);
    let (head, body, tail) = parts(&whole);
    let model = before.model.clone();
    // The model to judge by may differ from the one in the body, or be missing there.
    let options = RepairOptions { model, tail: true, truncate: asked.truncate, ..RepairOptions::default() };
    match fix_body(body.as_bytes(), &options, profile) {
        Ok(Some(Ok(fixed))) => {
            let body = String::from_utf8_lossy(&fixed.body);
            let text = [head, &*body, tail].concat();
            // The repair judges only the body. Check again with the other options, such as the model.
            match is_accepted(asked, &text) {
                true => Ok(shown(text, of_halves, &fixed)),
                false => Ok(beyond("the edits that are known do not help with this model", false)),
            }
        }
        Ok(None) if !of_halves.is_empty() && is_accepted(asked, &whole) => {
            let unchanged = FixedBody { body: Vec::new(), form: Vec::new(), repair: None };
            Ok(shown(whole.into_owned(), of_halves, &unchanged))
        }
        Ok(None) => {
            Ok(beyond("this model rejects something that cannot be repaired from the text alone", false))
        }
        Ok(Some(Err(unfixed))) => Ok(beyond(&unfixed.why, unfixed.can_truncate)),
        Err(error) => Err(Unjudged::because(error.to_string())),
    }
}

fn is_accepted(asked: &Asked, text: &str) -> bool {
    let Ok(options) = asked.options() else { return false };
    check(text.as_bytes(), START, &options).is_ok_and(|checked| checked.status.is_none())
}

/// Splits a text into the request and the parts before and after it. A row of a log has a request among
/// other fields.
fn parts(text: &str) -> (&str, &str, &str) {
    let whole = ("", text, "");
    let Ok(document) = Document::parse(text.as_bytes()) else { return whole };
    let root = document.root();
    let request = root.field("request");
    let is_row = (request.is_object() || request.is_array())
        && Dialect::ALL.into_iter().all(|dialect| root.get(list_of(dialect)).is_none());
    let span = request.span();
    match (is_row, text.get(..span.start), text.get(span.clone()), text.get(span.end..)) {
        (true, Some(head), Some(body), Some(tail)) => (head, body, tail),
        _ => whole,
    }
}

/// Returns the edits that replace unpaired surrogates. `whole` is the text without them.
fn halves_of(text: &str, whole: &str) -> Vec<Value> {
    let pointers = halves(text.as_bytes()).take(MAX_HALVES).map(|at| pointer_at(whole.as_bytes(), at));
    pointers.flatten().map(|pointer| described(&pointer, Reason::HalfCharacter)).collect()
}

/// Maximum number of surrogates reported one by one. Each requires another pass over the text.
const MAX_HALVES: usize = 20;

fn described(pointer: &str, reason: Reason) -> Value {
    json!({ "pointer": pointer, "words": reason.words(), "loses": reason.loses() })
}

fn shown(text: String, of_halves: Vec<Value>, fixed: &FixedBody) -> Repaired {
    let form = fixed.form.iter();
    let form = form.map(|edit| json!({ "pointer": edit.pointer, "words": edit.words, "loses": edit.loses }));
    let planned = fixed.repair.iter().flat_map(|edited| &edited.edits);
    let planned = planned.map(|planned| described(&planned.place.pointer, planned.reason));
    Repaired::Edited { text, edits: of_halves.into_iter().chain(form).chain(planned).collect() }
}
