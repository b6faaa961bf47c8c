//! Records of a store, and edits to their bytes.
//!
//! A record is a JSON value for a message or an event: a line of a JSONL file, or an item of a list.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use brickbat_rules::json::Document;
use serde_json::Value;

use crate::json::{self, Line};
use crate::{Files, Lost, Place, Trouble};

/// A record with its position.
#[derive(Debug, Clone)]
pub(super) struct Record {
    /// The parsed record.
    pub(super) value: Value,
    /// Its line number, in line-based files.
    pub(super) line: Option<u64>,
    /// Its byte range in the file.
    pub(super) span: Range<usize>,
    /// The pointer to it in its line or file; empty if it is the complete line.
    pub(super) pointer: String,
}

impl Record {
    /// The record of a line.
    pub(super) fn of_line(line: &Line<'_>, value: Value) -> Record {
        let span = line.start..line.start + line.bytes.len();
        Record { value, line: Some(line.n), span, pointer: String::new() }
    }

    /// The items of a list inside this record. `bytes` are the file's bytes.
    pub(super) fn items(&self, bytes: &[u8], pointer: &str) -> Vec<Record> {
        let Some(list) = self.value.pointer(pointer).and_then(Value::as_array) else { return Vec::new() };
        let spans = item_spans(&bytes[self.span.clone()], pointer);
        let items = list.iter().zip(spans).enumerate();
        let item = |(n, (value, span)): (usize, (&Value, Range<usize>))| Record {
            value: value.clone(),
            line: self.line,
            span: self.span.start + span.start..self.span.start + span.end,
            pointer: format!("{}{pointer}/{n}", self.pointer),
        };
        items.map(item).collect()
    }

    /// The place of a value inside the record.
    pub(super) fn place(&self, inner: &str) -> Place {
        Place {
            line: self.line,
            start: self.span.start as u64,
            end: self.span.end as u64,
            pointer: format!("{}{inner}", self.pointer),
            ..Place::default()
        }
    }

    /// A text field of the record; empty if there is none.
    pub(super) fn text(&self, key: &str) -> &str {
        json::text(&self.value, key)
    }
}

/// The records of a line-based file, and the troubles of its other lines.
///
/// A line with a JSON value that is not an object is skipped silently, as products do.
pub(super) fn of_lines(bytes: &[u8]) -> (Vec<Record>, Vec<Trouble>) {
    let (mut records, mut troubles) = (Vec::new(), Vec::new());
    for line in json::lines(bytes) {
        match json::parse(line.bytes) {
            Some(value) => records.push(Record::of_line(&line, value)),
            None => {
                records.extend(between_nul(&line));
                troubles.push(trouble(&line));
            }
        }
    }
    (records, troubles)
}

/// The record of a line that can be read after removing NUL bytes before or after it.
pub(super) fn between_nul(line: &Line<'_>) -> Option<Record> {
    let is_content = |byte: &u8| *byte != 0 && !byte.is_ascii_whitespace();
    let first = line.bytes.iter().position(is_content)?;
    let last = line.bytes.iter().rposition(is_content)?;
    let value = json::parse(&line.bytes[first..=last])?;
    let span = line.start + first..line.start + last + 1;
    Some(Record { value, line: Some(line.n), span, pointer: String::new() })
}

/// The fault in a line that is not JSON.
pub(super) fn trouble(line: &Line<'_>) -> Trouble {
    let words = json::trouble(line.bytes).to_string();
    if let Some(place) = nul_bytes(line) {
        return Trouble { place, words, loses: Some(Lost::Nothing) };
    }
    Trouble {
        place: Place::in_line(line.n, line.span(), ""),
        words,
        loses: Some(Lost::Data("what is left of one record")),
    }
}

/// The NUL bytes before or after a line, if the rest of it can be read or is empty.
fn nul_bytes(line: &Line<'_>) -> Option<Place> {
    let is_content = |byte: &u8| *byte != 0 && !byte.is_ascii_whitespace();
    let Some(first) = line.bytes.iter().position(is_content) else {
        return Some(Place::in_line(line.n, line.span(), ""));
    };
    let last = line.bytes.iter().rposition(is_content)?;
    json::parse(&line.bytes[first..=last])?;
    let start = line.start as u64;
    let end = start + line.bytes.len() as u64;
    let (first, last) = (start + first as u64, start + last as u64 + 1);
    // If there are two ranges, the longer one. The other is found after this one is removed.
    Some(match first - start >= end - last {
        true => Place::in_line(line.n, start..first, ""),
        false => Place::in_line(line.n, last..end, ""),
    })
}

/// The byte ranges of a list's items.
pub(super) fn item_spans(bytes: &[u8], pointer: &str) -> Vec<Range<usize>> {
    let Ok(document) = Document::parse(bytes) else { return Vec::new() };
    let list = if pointer.is_empty() { document.root() } else { document.root().pointer(pointer) };
    list.items().map(|item| item.span()).collect()
}

/// The byte ranges of list items in a file. Each list is parsed once, regardless of how many items are
/// looked up.
#[derive(Debug, Default)]
pub(super) struct ItemSpans {
    /// The ranges, by the start of the record and the pointer to the list in it.
    lists: BTreeMap<(usize, String), Vec<Range<usize>>>,
}

impl ItemSpans {
    /// The file's byte range that contains the item at a pointer inside a record.
    pub(super) fn find(
        &mut self,
        bytes: &[u8],
        record: &Range<usize>,
        pointer: &str,
    ) -> Option<Range<usize>> {
        let (list, item) = parted(pointer)?;
        let own = bytes.get(record.clone())?;
        let spans = self.lists.entry((record.start, list.to_owned())).or_insert_with(|| {
            let spans = item_spans(own, list).into_iter();
            spans.map(|span| record.start + span.start..record.start + span.end).collect()
        });
        spans.get(item).cloned()
    }
}

/// The items of a list, and the indices of those to remove.
type Items = (Vec<Range<usize>>, BTreeSet<usize>);

/// Replacements for byte ranges in a file, collected for one pass.
#[derive(Debug, Default)]
pub(super) struct Splices {
    edits: Vec<(Range<usize>, Vec<u8>)>,
    /// The items to remove, by the record of their list and the pointer to it.
    removed: BTreeMap<(usize, String), Items>,
}

impl Splices {
    /// Replaces a byte range.
    pub(super) fn replace(&mut self, span: Range<usize>, with: impl Into<Vec<u8>>) {
        self.edits.push((span, with.into()));
    }

    /// Inserts a line after another.
    pub(super) fn line_after(&mut self, record: &Record, value: &Value) {
        self.replace(record.span.end..record.span.end, format!("\n{value}"));
    }

    /// Removes a line with its line end.
    pub(super) fn without_line(&mut self, bytes: &[u8], record: &Record) {
        self.replace(with_line_end(bytes, &record.span), "");
    }

    /// Removes an item from the list at a pointer inside a record. Returns whether there is such an item.
    pub(super) fn without_item(
        &mut self,
        bytes: &[u8],
        record: &Range<usize>,
        list: &str,
        item: usize,
    ) -> bool {
        let Some(own) = bytes.get(record.clone()) else { return false };
        let (items, removed) = self.removed.entry((record.start, list.to_owned())).or_insert_with(|| {
            let spans = item_spans(own, list).into_iter();
            (spans.map(|span| record.start + span.start..record.start + span.end).collect(), BTreeSet::new())
        });
        let is_there = item < items.len();
        if is_there {
            removed.insert(item);
        }
        is_there
    }

    /// Removes an unreadable byte range. An empty range is between two records that share a line, and gets
    /// the missing line end.
    pub(super) fn discard(&mut self, bytes: &[u8], place: &Place) -> bool {
        let (Ok(start), Ok(end)) = (usize::try_from(place.start), usize::try_from(place.end)) else {
            return false;
        };
        if start > end || end > bytes.len() {
            return false;
        }
        let is_whole =
            (start == 0 || bytes[start - 1] == b'\n') && bytes.get(end).is_none_or(|byte| *byte == b'\n');
        match start == end {
            true => self.replace(start..end, "\n"),
            false if is_whole => self.replace(with_line_end(bytes, &(start..end)), ""),
            false => self.replace(start..end, ""),
        }
        true
    }

    /// The file after all replacements.
    pub(super) fn carry_out(mut self, bytes: &[u8]) -> Vec<u8> {
        for (items, removed) in self.removed.values() {
            self.edits.extend(gaps(items, removed).into_iter().map(|span| (span, Vec::new())));
        }
        self.edits.sort_by_key(|(span, _)| (span.start, span.end));
        self.edits.dedup();
        json::splice(bytes, self.edits)
    }
}

/// A line with the line end after it, or for the last line, the line end before it.
fn with_line_end(bytes: &[u8], line: &Range<usize>) -> Range<usize> {
    match bytes.get(line.end) {
        Some(_) => line.start..line.end + 1,
        None => line.start.saturating_sub(1)..line.end,
    }
}

/// The byte ranges to cut from a list in order to remove some items with the right commas.
fn gaps(items: &[Range<usize>], removed: &BTreeSet<usize>) -> Vec<Range<usize>> {
    let mut gaps: Vec<Range<usize>> = Vec::new();
    let mut kept: Option<usize> = None;
    let mut open: Option<usize> = None;
    for (n, item) in items.iter().enumerate() {
        if removed.contains(&n) {
            open = open.or(Some(item.start));
            continue;
        }
        if let Some(start) = open.take() {
            gaps.push(start..item.start);
        }
        kept = Some(item.end);
    }
    if let (Some(start), Some(last)) = (open, items.last()) {
        gaps.push(kept.unwrap_or(start)..last.end);
    }
    gaps
}

/// Splits a pointer into the pointer to the list and the index.
pub(super) fn parted(pointer: &str) -> Option<(&str, usize)> {
    let (list, item) = pointer.rsplit_once('/')?;
    Some((list, item.parse().ok()?))
}

/// The files with a new first file.
pub(super) fn with_main(files: &Files, bytes: Vec<u8>) -> Files {
    let mut files = files.clone();
    if let Some(file) = files.files.first_mut() {
        file.bytes = bytes;
    }
    files
}

/// An id derived from a text: hexadecimal digits that are always the same.
pub(super) fn derived_id(of: &str) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(of.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_removed_with_the_right_commas() {
        let without = |text: &str, items: &[usize]| {
            let mut splices = Splices::default();
            for item in items {
                assert!(splices.without_item(text.as_bytes(), &(0..text.len()), "", *item));
            }
            String::from_utf8(splices.carry_out(text.as_bytes())).unwrap()
        };
        assert_eq!(without("[1, 2, 3]", &[1, 2]), "[1]");
        assert_eq!(without("[1, 2, 3]", &[0, 1]), "[3]");
        assert_eq!(without("[1, 2, 3]", &[0, 2]), "[2]");
        assert_eq!(without("[1, 2, 3]", &[2, 1, 0]), "[]");
    }

    #[test]
    fn nul_bytes_around_a_record_are_reported_and_the_record_read() {
        let (records, troubles) = of_lines(b"{\"a\":1}\n\0\0\0{\"b\":2}\n{\"c\":\n");
        assert_eq!(records.len(), 2);
        assert_eq!((troubles[0].place.start, troubles[0].place.end), (8, 11));
        assert_eq!(troubles[1].words, "a torn line: it ends before its JSON does");
    }
}
