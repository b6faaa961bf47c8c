//! Files that are one JSON value, and what is whole of them where their end is lost.
//!
//! Such a file is written whole. A crash meanwhile leaves a part of it, or NUL bytes after it.

use std::borrow::Cow;
use std::ops::Range;

use brickbat_rules::json::Document;

use crate::{Place, Trouble};

/// What is whole of a JSON file.
pub(crate) struct Whole<'a> {
    /// JSON. It is what the file says, byte for byte, as far as the lost end, and closed there.
    pub(crate) text: Cow<'a, [u8]>,
    /// What comes after that in the file, and what has to stand there instead.
    lost: Option<(Range<usize>, &'static str)>,
}

impl Whole<'_> {
    /// What is to be said of the lost end.
    pub(crate) fn trouble(&self, bytes: &[u8]) -> Option<Trouble> {
        let (span, closing) = self.lost.clone()?;
        let n_nul = bytes.get(span.clone())?.iter().filter(|byte| **byte == 0).count();
        let words = match (closing.is_empty(), n_nul) {
            (true, _) => format!("{n_nul} NUL bytes after the end"),
            (false, 0) => "a torn end: the file stops inside its list".to_owned(),
            (false, _) => format!("a torn end: the file stops inside its list, in {n_nul} NUL bytes"),
        };
        let loses = if closing.is_empty() { "nothing" } else { "what is left of the torn last entry" };
        let place = Place::in_file(span.start as u64..span.end as u64, "");
        Some(Trouble { place, words, loses: Some(loses) })
    }

    /// The edit that takes the lost end out.
    pub(crate) fn closing(&self) -> Option<(Range<usize>, Vec<u8>)> {
        let (span, closing) = self.lost.clone()?;
        Some((span, closing.as_bytes().to_vec()))
    }
}

/// What is whole of the bytes; nothing if they are no JSON value and no list of objects that was cut.
pub(crate) fn whole(bytes: &[u8]) -> Option<Whole<'_>> {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace())?;
    if !matches!(first, b'[' | b'{') {
        return None;
    }
    if Document::parse(bytes).is_ok() {
        return Some(Whole { text: Cow::Borrowed(bytes), lost: None });
    }
    let is_filler = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0;
    let end = bytes.iter().rposition(|byte| !is_filler(byte)).map_or(0, |n| n + 1);
    if end < bytes.len() && Document::parse(&bytes[..end]).is_ok() {
        return Some(Whole { text: Cow::Borrowed(&bytes[..end]), lost: Some((end..bytes.len(), "")) });
    }
    if *first != b'[' {
        return None;
    }
    let end = end_of_last_item(bytes)?;
    let mut text = bytes[..end].to_vec();
    text.push(b']');
    Document::parse(&text).ok()?;
    Some(Whole { text: Cow::Owned(text), lost: Some((end..bytes.len(), "]")) })
}

/// Where the last whole object of a list ends whose end is lost.
fn end_of_last_item(bytes: &[u8]) -> Option<usize> {
    let (mut depth, mut is_string, mut is_escaped) = (0_usize, false, false);
    let mut end = None;
    for (n, byte) in bytes.iter().enumerate() {
        if is_string {
            (is_string, is_escaped) = (is_escaped || *byte != b'"', !is_escaped && *byte == b'\\');
            continue;
        }
        match byte {
            b'"' => is_string = true,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                match depth {
                    // The list is closed, so what is wrong is something else.
                    0 => return None,
                    1 => end = Some(n + 1),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(bytes: &[u8]) -> Option<(String, Option<String>)> {
        let whole = whole(bytes)?;
        let words = whole.trouble(bytes).map(|trouble| trouble.words);
        Some((String::from_utf8(whole.text.into_owned()).unwrap(), words))
    }

    #[test]
    fn a_torn_list_is_whole_as_far_as_its_last_object() {
        let (text, words) = found(br#"[{"a":"]}\""}, {"b":[1"#).unwrap();
        assert_eq!(text, r#"[{"a":"]}\""}]"#);
        assert_eq!(words.unwrap(), "a torn end: the file stops inside its list");
        assert_eq!(found(b"[{\"a\":1},{\0\0").unwrap().0, r#"[{"a":1}]"#);
    }

    #[test]
    fn nul_bytes_after_the_end_are_named() {
        let (text, words) = found(b"[{}]\n\0\0\0").unwrap();
        assert_eq!((text.as_str(), words.unwrap().as_str()), ("[{}]", "3 NUL bytes after the end"));
    }

    #[test]
    fn what_is_no_list_of_objects_is_nothing() {
        for bytes in [&b""[..], b"x", b"{\"a\":", b"[1, 2", b"[{}] x", b"[{}}", b"[\"", b"\0\0"] {
            assert!(found(bytes).is_none(), "{bytes:?}");
        }
    }
}
