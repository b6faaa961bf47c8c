//! Files that are one JSON value, and the readable part of files with a lost end.
//!
//! Products rewrite such a file completely. A crash during the write leaves only a part of it, or NUL
//! bytes after it.

use std::borrow::Cow;
use std::ops::Range;

use brickbat_rules::json::Document;

use crate::{Lost, Place, Trouble};

/// The complete part of a JSON file.
pub(crate) struct Whole<'a> {
    /// Valid JSON: the bytes of the file up to the lost end, with the list closed there.
    pub(crate) text: Cow<'a, [u8]>,
    /// The byte range of the lost end, and the text that must replace it.
    lost: Option<(Range<usize>, &'static str)>,
}

impl Whole<'_> {
    /// The trouble that describes the lost end.
    pub(crate) fn trouble(&self, bytes: &[u8]) -> Option<Trouble> {
        let (span, closing) = self.lost.clone()?;
        let n_nul = bytes.get(span.clone())?.iter().filter(|byte| **byte == 0).count();
        let words = match (closing.is_empty(), n_nul) {
            (true, _) => format!("{n_nul} NUL bytes after the end"),
            (false, 0) => "a torn end: the file stops inside its list".to_owned(),
            (false, _) => format!("a torn end: the file stops inside its list, in {n_nul} NUL bytes"),
        };
        let torn = Lost::Data("what is left of the torn last entry");
        let loses = if closing.is_empty() { Lost::Nothing } else { torn };
        let place = Place::in_file(span.start as u64..span.end as u64, "");
        Some(Trouble { place, words, loses: Some(loses) })
    }

    /// The edit that removes the lost end.
    pub(crate) fn closing(&self) -> Option<(Range<usize>, Vec<u8>)> {
        let (span, closing) = self.lost.clone()?;
        Some((span, closing.as_bytes().to_vec()))
    }
}

/// The complete part of the bytes. `None` if they are neither a JSON value nor a truncated list of objects.
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

/// The end of the last complete object in a truncated list.
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
                    // The list is closed, so the fault is a different one.
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
    fn a_torn_list_is_read_up_to_its_last_complete_object() {
        let (text, words) = found(br#"[{"a":"]}\""}, {"b":[1"#).unwrap();
        assert_eq!(text, r#"[{"a":"]}\""}]"#);
        assert_eq!(words.unwrap(), "a torn end: the file stops inside its list");
        assert_eq!(found(b"[{\"a\":1},{\0\0").unwrap().0, r#"[{"a":1}]"#);
    }

    #[test]
    fn nul_bytes_after_the_end_are_reported() {
        let (text, words) = found(b"[{}]\n\0\0\0").unwrap();
        assert_eq!((text.as_str(), words.unwrap().as_str()), ("[{}]", "3 NUL bytes after the end"));
    }

    #[test]
    fn anything_but_a_list_of_objects_is_rejected() {
        for bytes in [&b""[..], b"x", b"{\"a\":", b"[1, 2", b"[{}] x", b"[{}}", b"[\"", b"\0\0"] {
            assert!(found(bytes).is_none(), "{bytes:?}");
        }
    }
}
