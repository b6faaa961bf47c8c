//! JSON as it appears in a body: a tape of positions in the bytes, filled in one pass.
//!
//! Every request is read at least once, and most of its content is text that no rule needs. So a value is
//! a row of a flat list, a [`Tape`], with the positions where it begins and ends. Strings are borrowed
//! from the body, and decoded only on demand if they contain an escape. A tape is reused for the next
//! message, so that a long history needs no more memory than its longest message.
//!
//! The reader accepts the same values as serde_json, but nested much deeper, and returns serde_json's
//! errors.

mod escape;
mod locate;
mod scan;
mod walk;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde_json::{Number, Value};

pub(crate) use escape::utf16_unit;
pub use escape::{halves, without_halves};
pub use locate::{locate, pointer_at};
pub use walk::{Part, walk, walk_document, walk_list};

use scan::Scanner;

/// Maximum size of a text in bytes, because positions are 32 bits wide.
pub const MAX_BYTES: usize = u32::MAX as usize;

/// Maximum depth of arrays and objects in a text. It equals the limit of the deepest reader among the
/// providers, Go's `encoding/json`.
pub const MAX_DEPTH: usize = 10_000;

/// Maximum depth of a copy that consists of [`Value`]s, which are dropped and written by recursion.
/// serde_json reads nothing deeper, and the scalars in the innermost array need one more level.
pub const MAX_VALUE_DEPTH: usize = 128;

/// Values in the order of the text.
#[derive(Clone, Default)]
pub struct Tape<'a> {
    text: &'a str,
    rows: Vec<Row>,
}

/// A value, or a field name.
#[derive(Debug, Clone, Copy)]
struct Row {
    /// The position where it begins. For a string, this is after the opening quote.
    start: u32,
    /// The position where it ends. For a string, this is before the closing quote.
    end: u32,
    /// The index of the first row after it and its contents.
    next: u32,
    kind: JsonType,
    /// True if a string contains an escape.
    has_escape: bool,
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonType {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// A read-only value on a tape.
///
/// Looking up a name scans the fields. This is faster than hashing, because objects in requests have few
/// fields. If a name is repeated, the last field counts, as in serde_json and in the providers' own
/// parsers.
#[derive(Clone, Copy)]
pub struct Json<'t, 'a> {
    tape: &'t Tape<'a>,
    row: u32,
}

/// A complete text that was read. Null by default.
#[derive(Clone, Default)]
pub struct Document<'a> {
    tape: Tape<'a>,
}

impl<'a> Document<'a> {
    /// Reads a complete text.
    ///
    /// # Errors
    ///
    /// Fails if the text is not JSON, is nested more than [`MAX_DEPTH`] deep, or is longer than
    /// [`MAX_BYTES`].
    pub fn parse(bytes: &'a [u8]) -> Result<Document<'a>, serde_json::Error> {
        let text = scan::text(bytes)?;
        let mut tape = Tape::new(text);
        let mut scanner = Scanner::new(text);
        match scanner.value(&mut tape).and_then(|()| scanner.end()) {
            Ok(()) => Ok(Document { tape }),
            Err(_) => Err(scan::error_of(bytes)),
        }
    }

    /// Returns the outermost value.
    pub fn root(&self) -> Json<'_, 'a> {
        self.tape.first()
    }
}

impl fmt::Debug for Document<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root().fmt(f)
    }
}

impl<'a> Tape<'a> {
    fn new(text: &'a str) -> Tape<'a> {
        Tape { text, rows: Vec::new() }
    }

    /// Returns the first value, or null if nothing was read.
    fn first(&self) -> Json<'_, 'a> {
        let row = if self.rows.is_empty() { NOWHERE } else { 0 };
        Json { tape: self, row }
    }

    /// Begins a value. Returns its row.
    #[inline]
    fn open(&mut self, start: usize) -> usize {
        let row = Row { start: start as u32, end: 0, next: 0, kind: JsonType::Null, has_escape: false };
        self.rows.push(row);
        self.rows.len() - 1
    }

    /// Ends a value. All rows after its own are inside it.
    #[inline]
    fn close(&mut self, row: usize, end: usize, kind: JsonType) {
        let next = self.rows.len() as u32;
        let row = &mut self.rows[row];
        (row.end, row.next, row.kind) = (end as u32, next, kind);
    }
}

/// The row of a missing value.
const NOWHERE: u32 = u32::MAX;

/// The position of a value on its tape: a [`Json`] in four bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark(u32);

impl Mark {
    /// The position of a missing value.
    pub(crate) const NOWHERE: Mark = Mark(NOWHERE);
}

impl<'t, 'a> Json<'t, 'a> {
    /// Returns the type. A missing value is null.
    #[inline]
    pub fn kind(self) -> JsonType {
        self.row().map_or(JsonType::Null, |row| row.kind)
    }

    /// Returns a field; if the name is repeated, the last one. A value that is not an object has no
    /// fields.
    pub fn get(self, name: &str) -> Option<Json<'t, 'a>> {
        let mut found = None;
        for (own, value) in self.fields() {
            if own.is(name) {
                found = Some(value);
            }
        }
        found
    }

    /// Returns several fields like [`Json::get`], in one pass over the object.
    #[inline]
    pub fn pick<const N: usize>(self, names: [&str; N]) -> [Option<Json<'t, 'a>>; N] {
        let mut found = [None; N];
        for (own, value) in self.fields() {
            let place = match own.plain() {
                Some(own) => names.iter().position(|name| name.as_bytes() == own),
                None => names.iter().position(|name| own.is(name)),
            };
            if let Some(place) = place {
                found[place] = Some(value);
            }
        }
        found
    }

    /// Returns a field, or null if it is missing.
    pub fn field(self, name: &str) -> Json<'t, 'a> {
        self.get(name).unwrap_or(Json { row: NOWHERE, ..self })
    }

    /// Returns an item of an array, or null if it is missing.
    pub fn item(self, index: usize) -> Json<'t, 'a> {
        self.items().nth(index).unwrap_or(Json { row: NOWHERE, ..self })
    }

    /// Returns the value at a JSON pointer, or null if it is missing.
    pub fn pointer(self, pointer: &str) -> Json<'t, 'a> {
        locate::resolve(self, pointer).unwrap_or(Json { row: NOWHERE, ..self })
    }

    /// Returns the items of an array. A value that is not an array has none.
    #[inline]
    pub fn items(self) -> Items<'t, 'a> {
        Items(Some(self.inside(JsonType::Array)))
    }

    /// Returns the fields of an object as they were written. A value that is not an object has none.
    #[inline]
    pub fn fields(self) -> Fields<'t, 'a> {
        Fields(self.inside(JsonType::Object))
    }

    /// Returns the number of items in an array, or the number of fields in an object, including repeated
    /// names.
    pub fn len(self) -> usize {
        match self.kind() {
            JsonType::Array => self.items().count(),
            _ => self.fields().count(),
        }
    }

    /// Returns whether the value has no items and no fields.
    pub fn is_empty(self) -> bool {
        self.row().is_none_or(|row| row.next == self.row + 1)
    }

    /// Returns a string's text. It is borrowed from the body, unless an escape requires a copy.
    #[inline]
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        let row = self.row().filter(|row| row.kind == JsonType::String)?;
        let raw = &self.tape.text[row.start as usize..row.end as usize];
        Some(if row.has_escape { escape::decoded(raw) } else { Cow::Borrowed(raw) })
    }

    /// Returns the bytes of a string without escapes, or `None` if there are any.
    #[inline]
    pub(crate) fn plain(self) -> Option<&'a [u8]> {
        let row = self.row().filter(|row| row.kind == JsonType::String && !row.has_escape)?;
        Some(&self.tape.text.as_bytes()[row.start as usize..row.end as usize])
    }

    /// Returns whether the value is a string with this text.
    #[inline]
    pub fn is(self, text: &str) -> bool {
        match self.row() {
            Some(row) if row.kind == JsonType::String && !row.has_escape => {
                self.tape.text.as_bytes()[row.start as usize..row.end as usize] == *text.as_bytes()
            }
            Some(row) if row.kind == JsonType::String => self.as_str().is_some_and(|own| own == text),
            _ => false,
        }
    }

    /// Returns whether the value is a string with only white space. Reads only the beginning of other
    /// strings.
    pub fn is_blank(self) -> bool {
        let Some(row) = self.row().filter(|row| row.kind == JsonType::String) else { return false };
        let raw = &self.tape.text[row.start as usize..row.end as usize];
        let is_sure = raw.bytes().next().is_some_and(|first| first.is_ascii_graphic() && first != b'\\');
        !is_sure && escape::is_blank(raw)
    }

    /// Returns whether the value is a string that ends with white space. Reads only the end.
    pub fn ends_blank(self) -> bool {
        let Some(row) = self.row().filter(|row| row.kind == JsonType::String) else { return false };
        let raw = &self.tape.text[row.start as usize..row.end as usize];
        // Nearly every text ends with a letter or a full stop.
        let is_sure = !row.has_escape && raw.bytes().last().is_some_and(|last| last.is_ascii_graphic());
        !is_sure && escape::ends_blank(raw)
    }

    /// Returns whether the value is the empty string.
    #[inline]
    pub fn is_empty_str(self) -> bool {
        self.row().is_some_and(|row| row.kind == JsonType::String && row.start == row.end)
    }

    /// Returns the boolean, if the value is one.
    pub fn as_bool(self) -> Option<bool> {
        (self.kind() == JsonType::Bool).then(|| self.raw() == "true")
    }

    /// Returns the number, if it is an integer from 0 that fits into 64 bits.
    pub fn as_u64(self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// Returns the number, if the value is one.
    pub fn as_number(self) -> Option<Number> {
        match self.kind() {
            JsonType::Number => serde_json::from_str(self.raw()).ok(),
            _ => None,
        }
    }

    /// Returns whether the value is a string.
    #[inline]
    pub fn is_str(self) -> bool {
        self.kind() == JsonType::String
    }

    /// Returns whether the value is `null` or missing.
    pub fn is_null(self) -> bool {
        self.kind() == JsonType::Null
    }

    /// Returns whether the value is an array.
    #[inline]
    pub fn is_array(self) -> bool {
        self.kind() == JsonType::Array
    }

    /// Returns whether the value is an object.
    #[inline]
    pub fn is_object(self) -> bool {
        self.kind() == JsonType::Object
    }

    /// Returns the range of the value in the bytes of the body, quotes included. A missing value has the
    /// range 0..0.
    pub fn span(self) -> Range<usize> {
        match self.row() {
            Some(row) if row.kind == JsonType::String => row.start as usize - 1..row.end as usize + 1,
            Some(row) => row.start as usize..row.end as usize,
            None => 0..0,
        }
    }

    /// Returns the value as it was written, quotes included, or `null` for a missing value.
    pub fn raw(self) -> &'a str {
        match self.row() {
            Some(_) => &self.tape.text[self.span()],
            None => "null",
        }
    }

    /// Returns a copy that borrows nothing, with each field name only once. Values nested more than
    /// [`MAX_VALUE_DEPTH`] deep become null.
    pub fn to_value(self) -> Value {
        self.copied(MAX_VALUE_DEPTH)
    }

    fn copied(self, depth: usize) -> Value {
        let Some(below) = depth.checked_sub(1) else { return Value::Null };
        match self.kind() {
            JsonType::Null => Value::Null,
            JsonType::Bool => Value::Bool(self.as_bool() == Some(true)),
            JsonType::Number => self.as_number().map_or(Value::Null, Value::Number),
            JsonType::String => Value::String(self.as_str().unwrap_or_default().into_owned()),
            JsonType::Array => Value::Array(self.items().map(|item| item.copied(below)).collect()),
            JsonType::Object => {
                let name = |name: Json| name.as_str().unwrap_or_default().into_owned();
                Value::Object(self.fields().map(|(own, value)| (name(own), value.copied(below))).collect())
            }
        }
    }

    /// Returns the position on the tape.
    #[inline]
    pub(crate) fn mark(self) -> Mark {
        Mark(self.row)
    }

    /// Returns the value at a position on the same tape.
    #[inline]
    pub(crate) fn at(self, mark: Mark) -> Option<Json<'t, 'a>> {
        (mark.0 != NOWHERE).then_some(Json { row: mark.0, ..self })
    }

    #[inline]
    fn row(self) -> Option<Row> {
        self.tape.rows.get(self.row as usize).copied()
    }

    #[inline]
    fn inside(self, kind: JsonType) -> Inside<'t, 'a> {
        let rows = match self.row() {
            Some(row) if row.kind == kind => self.row + 1..row.next,
            _ => 0..0,
        };
        Inside { tape: self.tape, rows }
    }
}

impl fmt::Debug for Json<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.raw())
    }
}

/// The rows directly inside a value.
#[derive(Debug, Clone)]
struct Inside<'t, 'a> {
    tape: &'t Tape<'a>,
    rows: Range<u32>,
}

impl<'t, 'a> Iterator for Inside<'t, 'a> {
    type Item = Json<'t, 'a>;

    #[inline]
    fn next(&mut self) -> Option<Json<'t, 'a>> {
        if self.rows.is_empty() {
            return None;
        }
        let row = self.rows.start;
        self.rows.start = self.tape.rows.get(row as usize)?.next;
        Some(Json { tape: self.tape, row })
    }
}

/// The items of an array, in order. Empty by default.
#[derive(Debug, Clone, Default)]
pub struct Items<'t, 'a>(Option<Inside<'t, 'a>>);

impl<'t, 'a> Iterator for Items<'t, 'a> {
    type Item = Json<'t, 'a>;

    #[inline]
    fn next(&mut self) -> Option<Json<'t, 'a>> {
        self.0.as_mut()?.next()
    }
}

/// The fields of an object with their names, as they were written.
#[derive(Debug, Clone)]
pub struct Fields<'t, 'a>(Inside<'t, 'a>);

impl<'t, 'a> Iterator for Fields<'t, 'a> {
    type Item = (Json<'t, 'a>, Json<'t, 'a>);

    #[inline]
    fn next(&mut self) -> Option<(Json<'t, 'a>, Json<'t, 'a>)> {
        Some((self.0.next()?, self.0.next()?))
    }
}

impl fmt::Debug for Tape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tape").field("rows", &self.rows.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
