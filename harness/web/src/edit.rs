//! Splits an edit's changes into human-readable pieces.
//!
//! A body is often a single line, so the comparison uses strings, numbers and JSON punctuation instead of
//! lines.

use serde_json::{Value, json};
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Returns the pieces that lead from one text to another.
pub(crate) fn pieces(old: &str, new: &str) -> Vec<Value> {
    let (before, after) = (tokens(old), tokens(new));
    let mut pieces = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &before, &after) {
        let out = before.get(op.old_range()).unwrap_or_default().concat();
        match op {
            DiffOp::Equal { .. } => pieces.push(json!({ "same": out.encode_utf16().count() })),
            _ => {
                let put = after.get(op.new_range()).unwrap_or_default().concat();
                pieces.extend((!out.is_empty()).then(|| json!({ "out": out })));
                pieces.extend((!put.is_empty()).then(|| json!({ "in": put })));
            }
        }
    }
    pieces
}

/// Splits a text before and after each JSON punctuation character outside of a string.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let (mut start, mut is_string, mut is_escaped) = (0, false, false);
    let mut cut = |at: usize| {
        if at > start {
            tokens.extend(text.get(start..at));
            start = at;
        }
    };
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => {
                // The quotes belong to the string.
                cut(if is_string { at + 1 } else { at });
                is_string = !is_string;
            }
            b'{' | b'}' | b'[' | b']' | b',' | b':' if !is_string => {
                cut(at);
                cut(at + 1);
            }
            _ => {}
        }
    }
    cut(text.len());
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_at_json_punctuation() {
        assert_eq!(
            tokens(r#"{"a\"}": [1, "é,"]} "#),
            ["{", r#""a\"}""#, ":", " ", "[", "1", ",", " ", r#""é,""#, "]", "}", " "]
        );
        assert_eq!(tokens(r#""open \"#), [r#""open \"#]);
        assert_eq!(tokens(""), [""; 0]);
    }

    #[test]
    fn pieces_lead_from_the_old_text_to_the_new_one() {
        let (old, new) = (r#"[1, "two", 𝄞3]"#, r#"[1, 𝄞3, {"four": 4}]"#);
        let (mut before, mut after) = (String::new(), String::new());
        let units: Vec<u16> = old.encode_utf16().collect();
        let mut at = 0;
        for piece in pieces(old, new) {
            if let Some(n) = piece["same"].as_u64().and_then(|n| usize::try_from(n).ok()) {
                let same = String::from_utf16(&units[at..at + n]).unwrap();
                before.push_str(&same);
                after.push_str(&same);
                at += n;
            } else if let Some(out) = piece["out"].as_str() {
                before.push_str(out);
                at += out.encode_utf16().count();
            } else {
                after.push_str(piece["in"].as_str().unwrap());
            }
        }
        assert_eq!((before.as_str(), after.as_str()), (old, new));
    }
}
