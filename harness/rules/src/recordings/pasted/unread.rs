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
    /// A text has quotes inside that are not escaped.
    Unescaped,
    /// Java printed it, without quotes around its texts.
    Java,
    /// It is neither JSON nor a literal of a known language.
    Foreign,
    /// It can be read, and every dialect could have written it.
    Plain,
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
            Unreadable::Unescaped => {
                "a text in the request has quotes inside that are not escaped; write `\\\"` for each of them"
            }
            Unreadable::Java => {
                "Java printed the messages without quotes around their texts, so where a text ends is not known; log the body \
                 that is sent instead (LangChain4j: `logRequests(true)`)"
            }
            Unreadable::Plain => "it does not show its dialect",
            Unreadable::Foreign => {
                "the request is neither JSON nor a literal of Python, JavaScript, Ruby, PHP or Elixir"
            }
        })
    }
}

/// Words in the messages of Spring AI and LangChain4j as Java prints them.
const JAVA: [&str; 3] = ["messageType=", "toolExecutionRequests =", "toolExecutionRequests="];

/// The number of bytes that are searched for the signs of a request.
pub(super) const MAX_SEARCHED: usize = 4_000;

/// Returns the reason why the value at a place of a text cannot be read, if it looks like a request, and where it ends,
/// or where its reader stopped if it is cut off.
pub(super) fn at(text: &str, at: usize) -> Option<(Unread, usize)> {
    let begin = Begin::at(text, at)?;
    let rest = &text[at..];
    let signs = &rest[..rest.floor_char_boundary(MAX_SEARCHED)];
    let has_list = ["messages", "contents", "input"].iter().any(|list| signs.contains(list));
    let is_of_java = JAVA.iter().any(|mark| signs.contains(mark));
    let is_request = signs.contains("role") && (has_list || rest.starts_with('['));
    if begin == Begin::Quoted || !is_request && !is_of_java {
        return None;
    }
    let end = at + literal::stop(rest);
    let left = text[end.min(text.len())..].trim_start();
    let before = text[..end.min(text.len())].trim_end();
    let is_dots = |text: &str| text.starts_with("...") || text.starts_with('…');
    let why = if is_of_java {
        Unreadable::Java
    } else if literal::is_elision(left) {
        Unreadable::Inspected
    } else if is_dots(left) || before.ends_with("...") || before.ends_with('…') {
        Unreadable::LeftOut
    } else if left.is_empty() {
        Unreadable::Cut
    } else if before.ends_with('"') && left.starts_with(|c: char| c.is_alphanumeric()) {
        Unreadable::Unescaped
    } else {
        Unreadable::Foreign
    };
    // The rest of the same value is not judged by itself.
    let unread = Unread { line: line_at(text, end.min(text.len())), why };
    Some((unread, end.max(at + literal::extent(rest).unwrap_or(0))))
}
