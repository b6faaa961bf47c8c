//! JSON lines and values with their places, and edits to the surrounding bytes.

use std::ops::Range;

use brickbat_rules::json::Document;
use serde_json::Value;

use crate::RecordError;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// The line number, from 1.
    pub(crate) n: u64,
    /// The offset of its first byte in the file.
    pub(crate) start: usize,
    /// The content without the line end.
    pub(crate) bytes: &'a [u8],
}

impl Line<'_> {
    /// The byte range of the line in the file.
    pub(crate) fn span(&self) -> Range<u64> {
        self.start as u64..(self.start + self.bytes.len()) as u64
    }
}

/// The lines of a file that are not blank. Only `
/// ` ends a line, since U+2028 and `\r` occur inside values.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let mut start = 0;
    let pieces = bytes.split(|byte| *byte == b'\n').enumerate().map(move |(n, piece)| {
        let line = Line { n: n as u64 + 1, start, bytes: piece };
        start += piece.len() + 1;
        line
    });
    pieces.filter(|line| !line.bytes.iter().all(u8::is_ascii_whitespace))
}

/// Parses a value. `None` if the bytes are not JSON.
pub(crate) fn parse(bytes: &[u8]) -> Option<Value> {
    match serde_json::from_slice(bytes) {
        Ok(value) => Some(value),
        // Products write deep nesting, which `serde_json` rejects.
        Err(_) => Some(Document::parse(bytes).ok()?.root().to_value()),
    }
}

/// Describes why a line is not JSON, without showing its content.
pub(crate) fn trouble(bytes: &[u8]) -> RecordError {
    let n_nul = bytes.iter().filter(|byte| **byte == 0).count();
    if n_nul > 0 {
        return RecordError::Nul(n_nul);
    }
    match serde_json::from_slice::<serde::de::IgnoredAny>(bytes) {
        Err(error) if error.is_eof() => RecordError::Torn,
        Err(error) => RecordError::Json(error.column()),
        Ok(_) => RecordError::Form,
    }
}

/// A text field; empty if it is missing or not a text.
pub(crate) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A name from the store, such as the kind of a record, in a form that may be printed: the name itself if it
/// is short and plain, otherwise its size.
pub(crate) fn word(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    match !name.is_empty() && name.len() <= MAX_WORD_BYTES && name.chars().all(is_plain) {
        true => name.to_owned(),
        false => format!("a name of {} bytes", name.len()),
    }
}

/// Maximum size of a name that may be printed. The longest record kinds of known products have thirty bytes,
/// and a secret has more.
const MAX_WORD_BYTES: usize = 40;

/// Replaces ranges of bytes.
///
/// The ranges must not overlap. An empty range is an insertion, and two insertions at the same offset keep
/// their order.
pub(crate) fn splice(bytes: &[u8], mut edits: Vec<(Range<usize>, Vec<u8>)>) -> Vec<u8> {
    edits.sort_by_key(|(span, _)| (span.start, span.end));
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    for (span, with) in edits {
        out.extend_from_slice(&bytes[at.min(span.start)..span.start]);
        out.extend(with);
        at = span.end.max(at);
    }
    out.extend_from_slice(&bytes[at..]);
    out
}

/// The byte range of the value at a JSON pointer.
pub(crate) fn span_of(bytes: &[u8], pointer: &str) -> Option<Range<usize>> {
    let document = Document::parse(bytes).ok()?;
    let mut value = document.root();
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        value = match value.is_array() {
            true => value.item(step.parse().ok()?),
            false => value.get(&step)?,
        };
    }
    let span = value.span();
    (!span.is_empty()).then_some(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_numbers_and_byte_ranges() {
        let found: Vec<_> =
            lines(b"{}\n\n[1]\n").map(|line| (line.n, line.span(), line.bytes.len())).collect();
        assert_eq!(found, [(1, 0..2, 2), (3, 4..7, 3)]);
    }

    #[test]
    fn insertions_at_one_place_keep_their_order() {
        assert_eq!(splice(b"ad", vec![(1..1, b"b".to_vec()), (1..1, b"c".to_vec())]), b"abcd");
    }
}
