//! The arguments of a call as the model gave them, whatever a system makes of their form.
//!
//! A system hands on what it was given as a value or as the text that it was, and no system can write half of a
//! character: where text must be whole, U+FFFD stands for it.

use brickbat_scenario::surrogate;
use serde_json::Value;

use super::{Evidence, is_same};

/// Whether the model gave these arguments in a call whose arguments are not what its tool takes. They are a value
/// as JSON, or the model's own text.
pub(super) fn is_of_the_model(evidence: &Evidence<'_>, args: &str) -> bool {
    let odd = evidence.plan.calls.iter().filter(|call| call.is_malformed(|it| it.args));
    let mut given = odd.map(|call| call.deltas.concat());
    given.any(|given| says(args, &given))
}

/// Whether arguments say what the model gave.
fn says(args: &str, given: &str) -> bool {
    let value = read(args);
    let is_text = || value.as_ref().and_then(Value::as_str) == Some(given);
    let is_value = || matches!((&value, read(given)), (Some(args), Some(given)) if is_same(args, &given));
    // Every API takes a call without arguments for one with none.
    let is_nothing = || given.trim().is_empty() && value.as_ref().is_some_and(is_empty);
    args == given || is_text() || is_value() || is_nothing()
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(serde_json::Map::is_empty)
}

/// The value that a text of JSON stands for, with U+FFFD for half of a surrogate pair.
fn read(text: &str) -> Option<Value> {
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&surrogate::whole(text))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_model_gave_is_known_again_in_any_form() {
        let cut = r#"{"key":"b \ud83d"}"#;
        let same = [
            (r#""b""#, r#""b""#),
            ("[]", " [ ]"),
            ("null", "null"),
            ("{key: b}", "{key: b}"),
            // A system may hand on the text that it was given.
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
