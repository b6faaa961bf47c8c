//! The smallest edit after which the provider accepts the text.

use brickbat_rules::Profile;
use brickbat_rules::check::{Providers, check};
use brickbat_rules::json::Document;
use brickbat_sessions::{Files, Mended, Repair, RepairOptions, repair};
use serde_json::{Value, json};

use crate::edit;
use crate::question::Asked;
use crate::verdict::{START, Unjudged, checked};

pub(crate) fn mend(asked: &Asked) -> Value {
    match mended(asked) {
        Ok(answer) => answer,
        Err(Unjudged { reason, .. }) => beyond(&reason, false),
    }
}

fn beyond(reason: &str, can_truncate: bool) -> Value {
    json!({ "beyond": { "reason": reason, "can_truncate": can_truncate } })
}

fn mended(asked: &Asked) -> Result<Value, Unjudged> {
    let before = checked(asked)?;
    if before.status.is_none() {
        return Ok(json!({ "healthy": true }));
    }
    let Providers::Profile(profile) = before.providers else {
        return Ok(beyond("an edit is for one provider, and a union has several: choose one of them", false));
    };
    let (head, body, tail) = parts(&asked.text);
    let outcome = repair(&Files::one("pasted", body), 0, &options(profile, asked.truncate));
    match outcome {
        Ok(Repair::Mended(mended)) => {
            let body = String::from_utf8_lossy(mended.files.main());
            let text = [head, &*body, tail].concat();
            // The repair judges the body alone. What was said of it besides, such as the model, counts as well.
            match is_accepted(asked, &text) {
                true => Ok(shown(&asked.text, &text, &mended)),
                false => Ok(beyond("the edits that are known do not help with this model", false)),
            }
        }
        Ok(Repair::Healthy(_)) => {
            Ok(beyond("this model refuses what cannot be mended from the text alone", false))
        }
        Ok(Repair::Beyond(found)) => Ok(beyond(&found.why, found.can_truncate)),
        Err(error) => Err(Unjudged::because(error.to_string())),
    }
}

/// As `brickbat check --fix` asks for a repair.
fn options(profile: &'static Profile, truncate: bool) -> RepairOptions {
    RepairOptions { profile: Some(profile), model: None, body: Some(profile.dialect), tail: true, truncate }
}

fn is_accepted(asked: &Asked, text: &str) -> bool {
    let Ok(options) = asked.options() else { return false };
    check(text.as_bytes(), START, &options).is_ok_and(|checked| checked.status.is_none())
}

/// What stands before the request, the request, and what stands after it: a row of a log holds it among other things.
fn parts(text: &str) -> (&str, &str, &str) {
    let whole = ("", text, "");
    let Ok(document) = Document::parse(text.as_bytes()) else { return whole };
    let root = document.root();
    let request = root.field("request");
    let is_row = (request.is_object() || request.is_array())
        && ["messages", "contents", "input"].iter().all(|list| root.get(list).is_none());
    let span = request.span();
    match (is_row, text.get(..span.start), text.get(span.clone()), text.get(span.end..)) {
        (true, Some(head), Some(body), Some(tail)) => (head, body, tail),
        _ => whole,
    }
}

fn shown(old: &str, new: &str, mended: &Mended) -> Value {
    let edits: Vec<Value> = mended
        .edits
        .iter()
        .map(|planned| {
            json!({
                "pointer": planned.place.pointer,
                "words": planned.reason.words(),
                "loses": planned.reason.loses(),
            })
        })
        .collect();
    json!({ "mended": { "text": new, "edits": edits, "pieces": edit::pieces(old, new) } })
}
