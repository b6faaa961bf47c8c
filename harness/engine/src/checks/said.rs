//! The arguments of a call as the model gave them, whatever a system makes of their form.
//!
//! A system hands on what it was given as a value or as the text that it was, and no system can write half of a
//! character: where text must be whole, U+FFFD stands for it.

use serde_json::Value;

use super::{Evidence, is_same};

/// Whether the model gave these arguments in a call whose arguments are not what its tool takes. They are a value as
/// JSON, or the model's own text.
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
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&with_whole_characters(text))).ok()
}

/// A text of JSON without escapes that are half of a surrogate pair.
fn with_whole_characters(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        whole.push_str(&rest[..at]);
        let escape = &rest[at..];
        // Of two backslashes the second is a character.
        let length = match (half(escape), half(escape.get(6..).unwrap_or_default())) {
            (Some(Half::High), Some(Half::Low)) => 12,
            (Some(_), _) => {
                whole.push_str("\\ufffd");
                rest = &escape[6..];
                continue;
            }
            (None, _) => 2.min(escape.len()),
        };
        let end = (length..=escape.len()).find(|end| escape.is_char_boundary(*end)).unwrap_or(escape.len());
        whole.push_str(&escape[..end]);
        rest = &escape[end..];
    }
    whole.push_str(rest);
    whole
}

enum Half {
    High,
    Low,
}

/// Which half of a surrogate pair a text begins with, as an escape.
fn half(text: &str) -> Option<Half> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
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
