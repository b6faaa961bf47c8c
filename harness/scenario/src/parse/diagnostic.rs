//! Errors in files, shown with their location as a compiler does.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};

use super::tree::Span;
use brickbat_rules::colour::Colour;

/// An error in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The name of the file, as given by the caller.
    pub file: String,
    /// The 1-based line number.
    pub line: u32,
    /// The 1-based column, in characters.
    pub column: u32,
    /// The message.
    pub message: String,
    /// The variant with the error, if only some variants have it.
    pub note: Option<String>,
    /// Advice on how to correct it.
    pub hint: Option<String>,
    excerpt: Option<Box<Excerpt>>,
}

/// The text of the line with the error.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Excerpt {
    text: String,
    marked: Range<usize>,
}

/// The longest line that is quoted, in bytes. Longer lines are machine-made, and no terminal can show them.
const MAX_QUOTED_LINE: usize = 4096;

/// A message may quote a key or a word that contains line breaks.
fn on_one_line(message: &str) -> String {
    let shown = |c: char| if c.is_control() { c.escape_debug().to_string() } else { c.to_string() };
    message.chars().map(shown).collect()
}

impl Diagnostic {
    /// An error at a location in a text.
    pub fn new(file: &str, text: &str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            file: file.to_owned(),
            line: span.line,
            column: span.column,
            message: on_one_line(&message.into()),
            note: None,
            hint: None,
            excerpt: Excerpt::cut(text, span).map(Box::new),
        }
    }

    /// Adds advice.
    pub fn with_hint(mut self, hint: Option<String>) -> Diagnostic {
        self.hint = hint;
        self
    }

    /// Adds a note about the variant.
    pub fn with_note(mut self, note: Option<String>) -> Diagnostic {
        self.note = note;
        self
    }

    /// The error, with the line that contains it.
    pub fn render(&self, colour: Colour) -> String {
        let title = Level::ERROR.primary_title(self.message.as_str());
        let mut group = match &self.excerpt {
            Some(excerpt) => title.element(
                Snippet::source(excerpt.text.as_str())
                    .line_start(self.line as usize)
                    .path(self.file.as_str())
                    .annotation(AnnotationKind::Primary.span(excerpt.marked.clone())),
            ),
            None => title.element(
                Origin::path(self.file.as_str()).line(self.line as usize).char_column(self.column as usize),
            ),
        };
        if let Some(note) = &self.note {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        if let Some(hint) = &self.hint {
            group = group.element(Level::HELP.message(hint.as_str()));
        }
        let renderer = match colour {
            Colour::Plain => Renderer::plain(),
            Colour::Ansi => Renderer::styled(),
        };
        renderer.render(&[group])
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Colour::Plain))
    }
}

impl std::error::Error for Diagnostic {}

impl Excerpt {
    fn cut(text: &str, span: Span) -> Option<Excerpt> {
        let start = text.floor_char_boundary(span.start);
        let from = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let to = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
        let line = text[from..to].trim_end_matches('\r');
        if line.is_empty() || line.len() > MAX_QUOTED_LINE {
            return None;
        }
        // An empty marker does not help: at least one character is marked, and never more than the line.
        let first = line.floor_char_boundary(start - from);
        let one = line[first..].chars().next().map_or(0, char::len_utf8);
        let last = line.floor_char_boundary(span.end.saturating_sub(from)).max(first + one);
        let trimmed = first + line[first..last].trim_end().len();
        Some(Excerpt { text: line.to_owned(), marked: first..trimmed.max(first + one) })
    }
}
