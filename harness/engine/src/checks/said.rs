//! Arguments of a call as the model gave them, in any form that a system passes on.
//!
//! A system may pass arguments on as a value or as the original text. No system can write half a character:
//! where text must be valid, U+FFFD replaces it.

use brickbat_rules::json::without_halves;
use serde_json::Value;

use super::{Evidence, is_same};

/// True if the model gave these arguments in a call with arguments that its tool does not accept. `args` is
/// JSON, or the model's own text.
pub(super) fn is_of_the_model(evidence: &Evidence<'_>, args: &str) -> bool {
    let odd = evidence.plan.calls.iter().filter(|call| call.is_malformed(|it| it.args));
    let mut given = odd.map(|call| call.deltas.concat());
    given.any(|given| says(args, &given))
}

/// True if the arguments mean the same as the model's.
fn says(args: &str, given: &str) -> bool {
    let value = read(args);
    let is_text = || value.as_ref().and_then(Value::as_str) == Some(given);
    let is_value = || matches!((&value, read(given)), (Some(args), Some(given)) if is_same(args, &given));
    // Every API treats a call without arguments like one with empty arguments.
    let is_nothing = || given.trim().is_empty() && value.as_ref().is_some_and(is_empty);
    args == given || is_text() || is_value() || is_nothing()
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(serde_json::Map::is_empty)
}

/// The value of a JSON text, with U+FFFD for each unpaired surrogate.
fn read(text: &str) -> Option<Value> {
    serde_json::from_str(text).or_else(|_| serde_json::from_slice(&without_halves(text.as_bytes()))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_the_model_are_recognised_in_any_form() {
        let cut = r#"{"key":"b \ud83d"}"#;
        let same = [
            (r#""b""#, r#""b""#),
            ("[]", " [ ]"),
            ("null", "null"),
            ("{key: b}", "{key: b}"),
            // A system may pass on the text that it received.
            (r#""{key: b}""#, "{key: b}"),
            (r#""\"b\"""#, r#""b""#),
            (cut, cut),
            (r#"{"key": "b \uD83D"}"#, cut),
            (r#"{"key":"b \ufffd"}"#, cut),
            ("{\"key\":\"b \u{fffd}\"}", cut),
            (r#"{"key":"\\ud83d 😀"}"#, r#"{"key":"\\ud83d \ud83d\ude00"}"#),
            ("{}", ""),
        ];
        for (args, given) in same {
            assert!(says(args, given), "{args} {given}");
        }
        let other = [
            ("{}", r#""b""#),
            ("{}", "{key: b}"),
            (r#"{"key":"b "}"#, cut),
            (r#"{"key":"b"#, r#"{"key":"b"}"#),
            ("[]", "null"),
            ("null", ""),
            (r#"{"key":"\\ud83d"}"#, r#"{"key":"\ud83d"}"#),
        ];
        for (args, given) in other {
            assert!(!says(args, given), "{args} {given}");
        }
    }
}
