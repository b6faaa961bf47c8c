//! The parts that `validateUIMessages` refuses.
//!
//! Servers call it before they send a stored conversation, so one such part blocks the thread
//! (<https://github.com/assistant-ui/assistant-ui/issues/4195>). Each case was run with `ai` 5.0.277, 6.0.326 and
//! 7.0.173, which agree on all of them for static tools.

use serde_json::Value;

use crate::json::text;
use crate::{Lost, Place, Trouble};

/// The trouble with a tool part. `None` if all versions accept it.
pub(super) fn trouble(place: &Place, part: &Value) -> Option<Trouble> {
    let kind = text(part, "type");
    if !kind.starts_with("tool-") && kind != "dynamic-tool" {
        return None;
    }
    let approval = part.get("approval").filter(|approval| !approval.is_null());
    let approved = part.pointer("/approval/approved").and_then(Value::as_bool);
    let has_id = part.pointer("/approval/id").is_some_and(Value::is_string);
    let (words, is_removable) = match text(part, "state") {
        "output-available" | "output-error" if approval.is_some() && approved != Some(true) => {
            ("an `approval` that was not given, beside an output", true)
        }
        "input-available" | "input-streaming" if approval.is_some() => {
            ("an `approval` beside a call that waits for none", true)
        }
        "approval-requested" if !has_id => ("a request for approval without `approval.id`", false),
        "approval-responded" if !has_id || approved.is_none() => {
            ("an answer without `approval.id` and `approval.approved`", false)
        }
        "output-denied" if !has_id || approved != Some(false) => {
            ("a refusal without `approval.id` and `approved: false`", false)
        }
        "output-error" if !part.get("errorText").is_some_and(Value::is_string) => {
            ("an error without `errorText`", false)
        }
        _ => return None,
    };
    Some(Trouble {
        place: place.clone(),
        words: format!("{words}: `validateUIMessages` of AI SDK 5, 6 and 7 throws AI_TypeValidationError"),
        loses: is_removable.then_some(Lost::Approval),
    })
}
