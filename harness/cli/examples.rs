//! The rule vectors that come with brickbat.

use std::collections::BTreeMap;

use include_dir::{Dir, DirEntry, include_dir};

use brickbat_rules::lint::VectorFile;

static BUILT_IN: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/corpora/histories");

/// The files of vectors, by the id of their rule. A test holds all of them to the format.
pub fn vectors() -> BTreeMap<String, VectorFile> {
    let folders = BUILT_IN.entries().iter().filter_map(DirEntry::as_dir);
    let texts = folders.flat_map(Dir::files).filter_map(include_dir::File::contents_utf8);
    let files = texts.filter_map(|text| VectorFile::read(text).ok());
    files.filter_map(|file| Some((file.rule.clone()?, file))).collect()
}
