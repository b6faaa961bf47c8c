//! Compares texts and values as a reader would: do they contain the same text?

use brickbat_rules::failure::FAILURE;
use serde_json::{Map, Number, Value};

/// Returns whether a text contains these words, regardless of what surrounds them: a reformatted JSON value,
/// a string inside a JSON text, or white space.
pub(crate) fn said_in(text: &str, words: &str) -> bool {
    if words.trim().is_empty() || text.contains(words.trim()) {
        return true;
    }
    let wanted = squeezed(words);
    wanted.is_empty() || squeezed(text).contains(&wanted)
}

/// Returns a text without white space, quotes and backslashes, and with escaped characters decoded.
fn squeezed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        match escape(rest) {
            Some((character, n_bytes)) => {
                out.extend(character);
                rest = &rest[n_bytes..];
                continue;
            }
            None if first.is_whitespace() || matches!(first, '"' | '\\' | '\'') => {}
            None => out.push(first),
        }
        rest = &rest[first.len_utf8()..];
    }
    out
}

/// Decodes an escape such as `\u00e9`. Returns its character, or `None` if that is white space, and its
/// length.
fn escape(text: &str) -> Option<(Option<char>, usize)> {
    let code = text.strip_prefix('\\')?;
    if code.starts_with(['n', 't', 'r']) {
        return Some((None, 2));
    }
    let unit = |text: &str| u16::from_str_radix(text.strip_prefix('u')?.get(..4)?, 16).ok();
    let first = unit(code)?;
    if let Some(character) = char::from_u32(first.into()) {
        return Some((Some(character).filter(|character| !character.is_whitespace()), 6));
    }
    let second = unit(code.get(5..)?.strip_prefix('\\')?)?;
    let character = char::decode_utf16([first, second]).next()?.ok()?;
    Some((Some(character), 12))
}

/// Returns a value with sorted keys and with whole numbers as integers, so that equal values compare
/// equal.
pub(crate) fn canonical(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(canonical).collect(),
        Value::Object(fields) => {
            let mut keys: Vec<&String> = fields.keys().collect();
            keys.sort_unstable();
            let field = |key: &String| (key.clone(), fields.get(key).map(canonical).unwrap_or_default());
            Value::Object(keys.into_iter().map(field).collect::<Map<String, Value>>())
        }
        Value::Number(number) => Value::Number(whole(number)),
        other => other.clone(),
    }
}

/// The largest integer up to which a 64-bit float represents every integer exactly.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

fn whole(number: &Number) -> Number {
    match number.as_f64() {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole, and small enough to be exact")]
        Some(value) if number.is_f64() && value.fract() == 0.0 && value.abs() < MAX_EXACT => {
            Number::from(value as i64)
        }
        _ => number.clone(),
    }
}

/// Returns whether a result admits a failure or is empty. Any of these words is enough, because dialects
/// without an error flag have only the text.
pub(crate) fn admits_failure(text: &str) -> bool {
    let text = text.to_lowercase();
    text.trim().is_empty() || FAILURE.iter().chain(OF_FILTERS).any(|word| text.contains(word))
}

/// More words of [`FAILURE`], of results that a filter writes for calls without one.
const OF_FILTERS: &[&str] = &[
    "no output",
    "no response",
    "lost",
    "placeholder",
    "synthetic",
    "truncated",
    "unresolved",
    "dropped",
    "omitted",
    "pending",
    "without",
    "no tool",
    "repaired",
    "inserted",
];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_are_found_inside_any_wrapping() {
        for (text, words) in [
            ("found it", "found it"),
            (r#"{"output": "found  it"}"#, "found it"),
            (r#"{"content":[{"text":"{\"a\": 1}"}]}"#, r#"{"a":1}"#),
            (r#""h\u00e9 \ud83d\ude00""#, "hé 😀"),
            ("a\nb", "a\\nb"),
            ("anything", "  "),
        ] {
            assert!(said_in(text, words), "{words} in {text}");
        }
        assert!(!said_in("found", "found it") && !said_in("", "x"));
    }

    #[test]
    fn different_spellings_of_a_value_are_equal() {
        assert_eq!(canonical(&json!({ "b": [1.0, 2.5], "a": 1 })).to_string(), r#"{"a":1,"b":[1,2.5]}"#);
    }
}
