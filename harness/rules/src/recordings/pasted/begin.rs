//! The places in a text at which a value may begin.

use serde_json::Value;

use super::{classes, literal};

/// The kinds of values in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begin {
    /// An object or a list.
    Value,
    /// JSON inside a string.
    Quoted,
    /// The named arguments of a call.
    Call,
    /// The items of PHP's `array(…)`.
    Array,
    /// An object as Ruby prints it, behind its `#`.
    Inspected,
}

impl Begin {
    /// The kind of value that may begin at a bracket.
    pub(super) fn at(text: &str, at: usize) -> Option<Begin> {
        if text[at..].starts_with("<") {
            return text[..at].ends_with('#').then_some(Begin::Inspected);
        }
        let (bracket, rest) = text[at..].split_at(1);
        let rest = rest.trim_start();
        let is_name = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '\'' | '"');
        // A symbol of Ruby's, and the map of an Elixir program.
        let is_value = |c: char| is_name(c) || matches!(c, ':' | '%');
        match bracket {
            "(" => {
                let is_call = text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
                let name = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(0);
                let is_named = name > 0 && rest[name..].trim_start().starts_with('=');
                // An array of PHP's.
                if text[..at].ends_with("array") && rest.starts_with(['\'', '"']) {
                    return Some(Begin::Array);
                }
                let is_label = name > 0 && rest[name..].starts_with(": ");
                let is_known = || classes::is_positional(name_before(&text[..at]));
                (is_call && (is_named || is_label || rest.starts_with("**") || is_known()))
                    .then_some(Begin::Call)
            }
            _ if rest.starts_with("\\\"") => Some(Begin::Quoted),
            "{" => rest.starts_with(|c| is_value(c) || c == '.' || c == '*').then_some(Begin::Value),
            _ => rest.starts_with(|c| is_value(c) || c == '{' || c == '[').then_some(Begin::Value),
        }
    }

    /// The value at a place of a text, and its length.
    pub(super) fn read(self, text: &str, at: usize) -> Option<(Value, usize)> {
        let (before, text) = text.split_at(at);
        match self {
            Begin::Inspected => literal::inspected(text),
            Begin::Value => {
                let class = name_before(before.trim_end());
                if text.starts_with('{') && classes::is_positional(class) {
                    return literal::printed(text, class);
                }
                let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
                match values.next() {
                    Some(Ok(value)) => Some((value, values.byte_offset())),
                    _ => literal::read(text),
                }
            }
            Begin::Quoted => {
                let mut is_escaped = false;
                let end = text.bytes().position(|byte| {
                    let is_end = byte == b'"' && !is_escaped;
                    is_escaped = byte == b'\\' && !is_escaped;
                    is_end
                })?;
                let inner: String = serde_json::from_str(&format!("\"{}\"", &text[..end])).ok()?;
                Some((serde_json::from_str(&inner).ok()?, end))
            }
            Begin::Call => literal::arguments(text, name_before(before)),
            Begin::Array => literal::array(text),
        }
    }
}

/// The name at the end of a text.
fn name_before(text: &str) -> &str {
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ':');
    let start = text.rfind(|c: char| !is_of_name(c)).map_or(0, |at| text.ceil_char_boundary(at + 1));
    &text[start..]
}
