//! Values in a text that look like a request and cannot be read.

use super::begin::Begin;
use super::{line_at, literal};

/// A place in a text that looks like a request and cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unread {
    /// The line, from 1.
    pub line: u64,
    /// The reason.
    pub why: Unreadable,
}

/// Why a request in a text cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// The writer of the text left a part out.
    LeftOut,
    /// Node.js printed a mark in place of a deep value.
    Inspected,
    /// The text ends before the value does.
    Cut,
    /// It is neither JSON nor a literal of a known language.
    Foreign,
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Unreadable::LeftOut => {
                "a part of the request is left out (`...`); put the original text there, or delete it"
            }
            Unreadable::Inspected => {
                "Node.js left a part of the request out (`[Object]`); print it with `JSON.stringify(value, null, 2)`"
            }
            Unreadable::Cut => "the request is cut off before its end",
            Unreadable::Foreign => {
                "the request is neither JSON nor a literal of Python, JavaScript, Ruby, PHP or Elixir"
            }
        })
    }
}

/// The number of bytes that are searched for the signs of a request.
pub(super) const MAX_SEARCHED: usize = 4_000;

/// Returns the reason why the value at a place of a text cannot be read, if it looks like a request, and where its
/// reader stopped.
pub(super) fn at(text: &str, at: usize) -> Option<(Unread, usize)> {
    let begin = Begin::at(text, at)?;
    let rest = &text[at..];
    let signs = &rest[..rest.floor_char_boundary(MAX_SEARCHED)];
    let has_list = ["messages", "contents", "input"].iter().any(|list| signs.contains(list));
    let is_request = signs.contains("role") && (has_list || rest.starts_with('['));
    if begin == Begin::Quoted || !is_request {
        return None;
    }
    let end = at + literal::stop(rest);
    let left = text[end.min(text.len())..].trim_start();
    let before = text[..end.min(text.len())].trim_end();
    let is_dots = |text: &str| text.starts_with("...") || text.starts_with('…');
    let why = if literal::is_elision(left) {
        Unreadable::Inspected
    } else if is_dots(left) || before.ends_with("...") || before.ends_with('…') {
        Unreadable::LeftOut
    } else if left.is_empty() {
        Unreadable::Cut
    } else {
        Unreadable::Foreign
    };
    Some((Unread { line: line_at(text, end.min(text.len())), why }, end))
}
