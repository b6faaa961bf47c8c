//! Faults in stores that keep a call and its result in one object. There, a call
//! without a result is stored as still running.

use serde_json::{Map, Value, json};

use super::items::{parse, removed};
use crate::product::Part;
use crate::{Files, Place};

/// The files in which these calls are still running.
pub(super) fn without_results(
    files: &Files,
    part: Part,
    calls: &[&Place],
    results: &[Place],
) -> Option<Files> {
    let mut root = parse(files)?;
    for call in calls {
        open(part, root.pointer_mut(&call.pointer)?.as_object_mut()?);
    }
    // From the end, so that the earlier places stay valid.
    let mut apart: Vec<&Place> = results.iter().filter(|result| !calls.contains(result)).collect();
    apart.sort_by_key(|place| std::cmp::Reverse(place.start));
    for place in apart {
        removed(&mut root, &place.pointer)?;
    }
    let mut files = files.clone();
    files.files.first_mut()?.bytes = serde_json::to_vec(&root).ok()?;
    Some(files)
}

/// Removes the outcome of a call.
fn open(part: Part, call: &mut Map<String, Value>) {
    match part {
        Part::Ui => {
            call.insert("state".to_owned(), json!("input-available"));
            call.shift_remove("output");
            call.shift_remove("errorText");
        }
        Part::Twenty => {
            call.insert("state".to_owned(), json!("input-available"));
            call.insert("toolOutput".to_owned(), Value::Null);
            call.insert("errorMessage".to_owned(), Value::Null);
        }
        Part::Tanstack => {
            call.insert("state".to_owned(), json!("input-complete"));
            call.shift_remove("output");
        }
    }
}
