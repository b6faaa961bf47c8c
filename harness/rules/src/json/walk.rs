//! Reads a request message by message. Each message is on the tape only while it is in use.

use super::scan::{self, Malformed, Scanner};
use super::{Document, Json, JsonType, Tape};

/// A part of a request.
#[derive(Debug, Clone, Copy)]
pub enum Part<'t, 'a> {
    /// The beginning of the list. If the list occurs twice, the last one counts: forget everything before
    /// this.
    Begin,
    /// An item of the list, with its index.
    Item(usize, Json<'t, 'a>),
    /// Everything else, at the end: the value, with the list empty.
    Rest(Json<'t, 'a>),
}

/// Reads a JSON text. Calls `each` with every item of the list in the field `list` of the outermost
/// object, and then with the rest.
///
/// # Errors
///
/// Fails if the text is not JSON. `each` may have been called before the error is found.
pub fn walk<'a>(
    bytes: &'a [u8],
    list: &str,
    each: impl FnMut(Part<'_, 'a>),
) -> Result<(), serde_json::Error> {
    Walker::new(scan::text(bytes)?, list).walk(false, each).map_err(|Malformed| scan::error_of(bytes))
}

/// Like [`walk`], for a text with the list as its outermost value. The rest is null; if the outermost
/// value is not a list, it is the rest.
///
/// # Errors
///
/// As for [`walk`].
pub fn walk_list<'a>(bytes: &'a [u8], each: impl FnMut(Part<'_, 'a>)) -> Result<(), serde_json::Error> {
    Walker::new(scan::text(bytes)?, "").walk(true, each).map_err(|Malformed| scan::error_of(bytes))
}

/// Like [`walk`], for a text that was already read. Here, the rest includes the items.
pub fn walk_document<'a>(document: &Document<'a>, list: &str, mut each: impl FnMut(Part<'_, 'a>)) {
    let root = document.root();
    if let Some(items) = root.get(list).filter(|items| items.is_array()) {
        each(Part::Begin);
        items.items().enumerate().for_each(|(index, item)| each(Part::Item(index, item)));
    }
    each(Part::Rest(root));
}

struct Walker<'a, 'l> {
    scanner: Scanner<'a>,
    rest: Tape<'a>,
    item: Tape<'a>,
    list: &'l str,
}

impl<'a, 'l> Walker<'a, 'l> {
    fn new(text: &'a str, list: &'l str) -> Self {
        Walker { scanner: Scanner::new(text), rest: Tape::new(text), item: Tape::new(text), list }
    }

    fn walk(&mut self, is_bare: bool, mut each: impl FnMut(Part<'_, 'a>)) -> Result<(), Malformed> {
        match self.scanner.peek() {
            Some(b'{') if !is_bare => self.object(&mut each)?,
            Some(b'[') if is_bare => {
                self.items(&mut each)?;
                self.rest.rows.clear();
            }
            _ => self.scanner.value(&mut self.rest)?,
        }
        self.scanner.end()?;
        each(Part::Rest(self.rest.first()));
        Ok(())
    }

    fn object(&mut self, each: &mut impl FnMut(Part<'_, 'a>)) -> Result<(), Malformed> {
        let start = self.scanner.at;
        self.rest.open(start);
        self.scanner.enter()?;
        let mut n = 0;
        while self.scanner.goes_on(n, b'}')? {
            let name = self.rest.rows.len() as u32;
            self.scanner.name(&mut self.rest)?;
            let is_list = Json { tape: &self.rest, row: name }.is(self.list);
            match self.scanner.peek() {
                Some(b'[') if is_list => self.items(each)?,
                _ => self.scanner.value(&mut self.rest)?,
            }
            n += 1;
        }
        self.rest.close(0, self.scanner.at, JsonType::Object);
        Ok(())
    }

    fn items(&mut self, each: &mut impl FnMut(Part<'_, 'a>)) -> Result<(), Malformed> {
        each(Part::Begin);
        let row = self.rest.open(self.scanner.at);
        self.scanner.enter()?;
        let mut n = 0;
        while self.scanner.goes_on(n, b']')? {
            self.item.rows.clear();
            self.scanner.value(&mut self.item)?;
            each(Part::Item(n, self.item.first()));
            n += 1;
        }
        self.rest.close(row, self.scanner.at, JsonType::Array);
        Ok(())
    }
}
