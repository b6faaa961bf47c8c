//! A first look at files: parses everything that stores need to recognise them, only once.

use std::cell::OnceCell;

use brickbat_rules::json::{Document, Json};

use super::json_text::whole;
#[cfg(feature = "sqlite")]
use crate::sqlite::Database;
use crate::{Files, json};

/// The number of lines at the beginning of a JSONL file among which a store looks for its header.
const MAX_HEAD_LINES: usize = 8;

/// Files to recognise, with the parts of the first one that have been parsed so far.
#[derive(Debug)]
pub struct Look<'f> {
    pub(crate) files: &'f Files,
    document: OnceCell<Option<Document<'f>>>,
    head: OnceCell<Vec<Document<'f>>>,
    #[cfg(feature = "sqlite")]
    database: OnceCell<Option<Database>>,
}

impl<'f> Look<'f> {
    /// Creates a look at these files. Nothing is parsed yet.
    pub fn of(files: &'f Files) -> Look<'f> {
        Look {
            files,
            document: OnceCell::new(),
            head: OnceCell::new(),
            #[cfg(feature = "sqlite")]
            database: OnceCell::new(),
        }
    }

    /// The database in the first file, if it is one.
    #[cfg(feature = "sqlite")]
    pub(crate) fn database(&self) -> Option<&Database> {
        self.database.get_or_init(|| Database::open(self.files).ok()).as_ref()
    }

    /// The bytes of the first file.
    pub(crate) fn main(&self) -> &'f [u8] {
        self.files.main()
    }

    /// The first file, if it is one JSON value.
    pub(crate) fn document(&self) -> Option<&Document<'f>> {
        let parse = || self.begins_with(b"{[").then(|| Document::parse(self.main()).ok()).flatten();
        self.document.get_or_init(parse).as_ref()
    }

    /// True if the first file is one JSON object and `is_its` returns true for it.
    pub(crate) fn is_object(&self, is_its: impl Fn(Json<'_, '_>) -> bool) -> bool {
        self.document().is_some_and(|document| document.root().is_object() && is_its(document.root()))
    }

    /// True if the first file is one JSON list and `is_its` returns true for it.
    pub(crate) fn is_list(&self, is_its: impl Fn(Json<'_, '_>) -> bool) -> bool {
        self.document().is_some_and(|document| document.root().is_array() && is_its(document.root()))
    }

    /// True if `is_its` returns true for the complete part of the first file. The end of the file may be
    /// lost.
    pub(crate) fn is_whole(&self, is_its: impl Fn(Json<'_, '_>) -> bool) -> bool {
        if let Some(document) = self.document() {
            return is_its(document.root());
        }
        let whole = whole(self.main());
        whole.is_some_and(|whole| Document::parse(&whole.text).is_ok_and(|document| is_its(document.root())))
    }

    /// The lines at the beginning of the file that are JSON.
    pub(crate) fn head(&self) -> &[Document<'f>] {
        let parse = || {
            let lines = json::lines(self.main()).take(MAX_HEAD_LINES);
            lines.filter_map(|line| Document::parse(line.bytes).ok()).collect()
        };
        self.head.get_or_init(parse)
    }

    /// True if `is_its` returns true for the first JSON line at the beginning of the file.
    pub(crate) fn is_headed(&self, is_its: impl Fn(Json<'_, '_>) -> bool) -> bool {
        self.head().first().is_some_and(|line| is_its(line.root()))
    }

    fn begins_with(&self, bytes: &[u8]) -> bool {
        self.main().trim_ascii_start().first().is_some_and(|first| bytes.contains(first))
    }
}
