//! JSON as it stands in a body: a tape of places in the bytes, read once.
//!
//! Every request is read at least once, and most of what is in it is text that nobody looks at. So a value is a row
//! of a flat list, a [`Tape`], which knows where it begins and ends in the text; strings are borrowed from the body
//! and decoded only when they are asked for and hold an escape. A tape is used again for the next message, so that
//! a long history costs no more memory than its longest message.
//!
//! What is accepted is what serde_json accepts as a value, but nested much deeper, and the errors are its own.

mod escape;
mod locate;
mod scan;
mod walk;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde_json::{Number, Value};

pub use escape::{halves, without_halves};
pub use locate::{locate, pointer_at};
pub use walk::{Part, walk, walk_document, walk_list};

use scan::Scanner;

/// Bytes of the longest text that is read: places in it are 32 bits wide.
pub const MAX_BYTES: usize = u32::MAX as usize;

/// Levels of arrays and objects in a text that is read: as deep as the deepest reader of providers goes, that of Go's
/// `encoding/json`.
pub const MAX_DEPTH: usize = 10_000;

/// Levels of a copy made of [`Value`]s, which are dropped and written by recursion. serde_json reads no deeper ones, and
/// the scalars in the innermost array need a level of their own.
pub const MAX_VALUE_DEPTH: usize = 128;

/// Values that have been read, in the order of the text.
#[derive(Clone, Default)]
pub struct Tape<'a> {
    text: &'a str,
    rows: Vec<Row>,
}

/// One value, or the name of a field.
#[derive(Debug, Clone, Copy)]
struct Row {
    /// Where it begins; in a string, after the quote.
    start: u32,
    /// Where it ends; in a string, at the quote.
    end: u32,
    /// The row of what comes after it and all that it holds.
    next: u32,
    kind: JsonType,
    /// Whether a string holds an escape.
    has_escape: bool,
}

/// What a value is.
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

/// A value on a tape, read only.
///
/// A look-up of a name goes through the fields, which beats hashing for the few fields that objects of requests
/// have. Of a name that is repeated the last one counts, as in serde_json and in the providers' own parsers.
#[derive(Clone, Copy)]
pub struct Json<'t, 'a> {
    tape: &'t Tape<'a>,
    row: u32,
}

/// A whole text that has been read; by default one that says null.
#[derive(Clone, Default)]
pub struct Document<'a> {
    tape: Tape<'a>,
}

impl<'a> Document<'a> {
    /// Reads a whole text.
    ///
    /// # Errors
    ///
    /// The text is not JSON, nested more than [`MAX_DEPTH`] deep, or longer than [`MAX_BYTES`].
    pub fn parse(bytes: &'a [u8]) -> Result<Document<'a>, serde_json::Error> {
        let text = scan::text(bytes)?;
        let mut tape = Tape::new(text);
        let mut scanner = Scanner::new(text);
        match scanner.value(&mut tape).and_then(|()| scanner.end()) {
            Ok(()) => Ok(Document { tape }),
            Err(_) => Err(scan::error_of(bytes)),
        }
    }

    /// The value.
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

    /// The first value; nothing if nothing has been read.
    fn first(&self) -> Json<'_, 'a> {
        let row = if self.rows.is_empty() { NOWHERE } else { 0 };
        Json { tape: self, row }
    }

    /// Begins a value; gives its row.
    #[inline]
    fn open(&mut self, start: usize) -> usize {
        let row = Row { start: start as u32, end: 0, next: 0, kind: JsonType::Null, has_escape: false };
        self.rows.push(row);
        self.rows.len() - 1
    }

    /// Ends a value: all rows after its own are inside it.
    #[inline]
    fn close(&mut self, row: usize, end: usize, kind: JsonType) {
        let next = self.rows.len() as u32;
        let row = &mut self.rows[row];
        (row.end, row.next, row.kind) = (end as u32, next, kind);
    }
}

/// The row of what is not there.
const NOWHERE: u32 = u32::MAX;

/// The place of a value on its tape: a [`Json`] in four bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark(u32);

impl Mark {
    /// The place of what is not there.
    pub(crate) const NOWHERE: Mark = Mark(NOWHERE);
}

impl<'t, 'a> Json<'t, 'a> {
    /// What it is; what is not there is null.
    #[inline]
    pub fn kind(self) -> JsonType {
        self.row().map_or(JsonType::Null, |row| row.kind)
    }

    /// A field; the last one of that name. A value that is no object has none.
    pub fn get(self, name: &str) -> Option<Json<'t, 'a>> {
        let mut found = None;
        for (own, value) in self.fields() {
            if own.is(name) {
                found = Some(value);
            }
        }
        found
    }

    /// Some fields, each as [`Json::get`] gives it, in one pass over the object.
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

    /// A field, or null where there is none.
    pub fn field(self, name: &str) -> Json<'t, 'a> {
        self.get(name).unwrap_or(Json { row: NOWHERE, ..self })
    }

    /// An item of an array, or null where there is none.
    pub fn item(self, index: usize) -> Json<'t, 'a> {
        self.items().nth(index).unwrap_or(Json { row: NOWHERE, ..self })
    }

    /// What a JSON pointer leads to, or null.
    pub fn pointer(self, pointer: &str) -> Json<'t, 'a> {
        locate::resolve(self, pointer).unwrap_or(Json { row: NOWHERE, ..self })
    }

    /// The items of an array; a value that is no array has none.
    #[inline]
    pub fn items(self) -> Items<'t, 'a> {
        Items(Some(self.inside(JsonType::Array)))
    }

    /// The fields of an object, as they were written; a value that is no object has none.
    #[inline]
    pub fn fields(self) -> Fields<'t, 'a> {
        Fields(self.inside(JsonType::Object))
    }

    /// How many items an array has, or how many fields an object was written with.
    pub fn len(self) -> usize {
        match self.kind() {
            JsonType::Array => self.items().count(),
            _ => self.fields().count(),
        }
    }

    /// Whether it holds no item and no field.
    pub fn is_empty(self) -> bool {
        self.row().is_none_or(|row| row.next == self.row + 1)
    }

    /// The text of a string. It is borrowed from the body, unless an escape forces a copy.
    #[inline]
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        let row = self.row().filter(|row| row.kind == JsonType::String)?;
        let raw = &self.tape.text[row.start as usize..row.end as usize];
        Some(if row.has_escape { escape::decoded(raw) } else { Cow::Borrowed(raw) })
    }

    /// The bytes of a string without escapes.
    #[inline]
    pub(crate) fn plain(self) -> Option<&'a [u8]> {
        let row = self.row().filter(|row| row.kind == JsonType::String && !row.has_escape)?;
        Some(&self.tape.text.as_bytes()[row.start as usize..row.end as usize])
    }

    /// Whether it is a string with this text.
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

    /// Whether it is a string of nothing but white space. Only the beginning is looked at.
    pub fn is_blank(self) -> bool {
        let Some(row) = self.row().filter(|row| row.kind == JsonType::String) else { return false };
        let raw = &self.tape.text[row.start as usize..row.end as usize];
        let is_sure = raw.bytes().next().is_some_and(|first| first.is_ascii_graphic() && first != b'\\');
        !is_sure && escape::is_blank(raw)
    }

    /// Whether it is a string with white space at its end. Only the end is looked at.
    pub fn ends_blank(self) -> bool {
        let Some(row) = self.row().filter(|row| row.kind == JsonType::String) else { return false };
        let raw = &self.tape.text[row.start as usize..row.end as usize];
        // Nearly every text ends with a letter or a full stop.
        let is_sure = !row.has_escape && raw.bytes().last().is_some_and(|last| last.is_ascii_graphic());
        !is_sure && escape::ends_blank(raw)
    }

    /// Whether it is the empty string.
    #[inline]
    pub fn is_empty_str(self) -> bool {
        self.row().is_some_and(|row| row.kind == JsonType::String && row.start == row.end)
    }

    /// The truth value, if it is one.
    pub fn as_bool(self) -> Option<bool> {
        (self.kind() == JsonType::Bool).then(|| self.raw() == "true")
    }

    /// The number, if it is a whole one that is not negative and has its place in 64 bits.
    pub fn as_u64(self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// The number, if it is one.
    pub fn as_number(self) -> Option<Number> {
        match self.kind() {
            JsonType::Number => serde_json::from_str(self.raw()).ok(),
            _ => None,
        }
    }

    /// Whether it is a string.
    #[inline]
    pub fn is_str(self) -> bool {
        self.kind() == JsonType::String
    }

    /// Whether it is `null`, or not there.
    pub fn is_null(self) -> bool {
        self.kind() == JsonType::Null
    }

    /// Whether it is an array.
    #[inline]
    pub fn is_array(self) -> bool {
        self.kind() == JsonType::Array
    }

    /// Whether it is an object.
    #[inline]
    pub fn is_object(self) -> bool {
        self.kind() == JsonType::Object
    }

    /// Where it stands in the bytes of the body, quotes included. Nothing stands at 0.
    pub fn span(self) -> Range<usize> {
        match self.row() {
            Some(row) if row.kind == JsonType::String => row.start as usize - 1..row.end as usize + 1,
            Some(row) => row.start as usize..row.end as usize,
            None => 0..0,
        }
    }

    /// The text of the value as it was written, quotes included; `null` for what is not there.
    pub fn raw(self) -> &'a str {
        match self.row() {
            Some(_) => &self.tape.text[self.span()],
            None => "null",
        }
    }

    /// A copy that borrows nothing, in which each name of an object occurs once. What is nested more than
    /// [`MAX_VALUE_DEPTH`] deep is null in it.
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

    /// Its place on the tape.
    #[inline]
    pub(crate) fn mark(self) -> Mark {
        Mark(self.row)
    }

    /// The value at a place of the same tape.
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

/// The items of an array, in order; by default none.
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
