//! `check` and `repair`.

use brickbat_rules::check::{CheckFormat, CheckReport, CheckedRequest};
use brickbat_rules::colour::Colour;
use brickbat_web::{Judged, Repaired, Unjudged, judged, repaired};
use serde_json::{Value, json};

use crate::question::Terms;
use crate::text_of;

/// The name of the text in reports, because it has no file.
const NAME: &str = "history";

/// Checks the bytes like `brickbat check`.
pub(crate) fn check(terms: Terms, bytes: &[u8]) -> Result<Vec<u8>, String> {
    Ok(match judged(&terms.about(bytes)?) {
        Ok(Judged { checked, inside }) => {
            let report = CheckReport::new(CheckFormat::Json, Colour::Plain).request(NAME, &checked);
            // It is JSON already, and most calls only ask for it.
            let found = inside.map_or(Value::Null, |inside| Value::String(inside.place));
            format!("{{\"verdict\":{report},\"text\":{},\"found\":{found}}}", Value::String(text(&checked)))
                .into_bytes()
        }
        Err(error) => text_of(&unjudged(error)),
    })
}

/// The report for people. Empty if nothing was found.
fn text(checked: &CheckedRequest) -> String {
    if checked.findings.is_empty() {
        return String::new();
    }
    let mut report = CheckReport::new(CheckFormat::Text, Colour::Plain);
    // The end of the report names options of the command line.
    [report.begin(), report.request(NAME, checked), report.end_of_file(NAME)].concat()
}

/// Repairs the bytes like `brickbat check --fix`.
pub(crate) fn repair(terms: Terms, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let asked = terms.about(bytes)?;
    let outcome = repaired(&asked).or_else(|error| match judged(&asked) {
        Ok(Judged { inside: Some(inside), .. }) if inside.is_complete => repaired(&inside.asked),
        Ok(Judged { checked, .. }) if checked.status.is_some() => Ok(Repaired::Beyond {
            reason: "the text leaves parts of the request out, so no edit is made".to_owned(),
            can_truncate: false,
        }),
        Ok(_) => Ok(Repaired::Healthy),
        Err(_) => Err(error),
    });
    let answer = match outcome {
        Ok(Repaired::Healthy) => json!({ "healthy": true }),
        Ok(Repaired::Edited { text, edits }) => json!({ "repaired": { "text": text, "edits": edits } }),
        Ok(Repaired::Beyond { reason, can_truncate }) => {
            json!({ "beyond": { "reason": reason, "can_truncate": can_truncate } })
        }
        Err(error) => unjudged(error),
    };
    Ok(text_of(&answer))
}

fn unjudged(Unjudged { reason, hints, .. }: Unjudged) -> Value {
    json!({ "unjudged": { "reason": reason, "hints": hints } })
}
