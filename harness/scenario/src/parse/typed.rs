//! Reads a type from a tree without placeholders, and traces every error back to its location.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

use super::SourceFile;
use super::diagnostic::Diagnostic;
use super::suggest::suggestion;

/// Reads a type from a value that was made from `source`.
pub fn typed<T: DeserializeOwned>(source: &SourceFile, value: Value) -> Result<T, Diagnostic> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let steps: Vec<String> = error.path().iter().filter_map(step).collect();
        let complaint = Complaint::of(&error.inner().to_string());
        let span = match complaint.about {
            About::Key => source.locate_key(&steps),
            About::Value => source.locate_steps(&steps),
        };
        source.at(span, complaint.message).with_hint(complaint.hint)
    })
}

fn step(segment: &Segment) -> Option<String> {
    match segment {
        Segment::Seq { index } => Some(index.to_string()),
        Segment::Map { key } => Some(key.clone()),
        Segment::Enum { variant } => Some(variant.clone()),
        Segment::Unknown => None,
    }
}

/// A serde error in our wording.
struct Complaint {
    message: String,
    hint: Option<String>,
    about: About,
}

#[derive(Clone, Copy)]
enum About {
    Key,
    Value,
}

impl Complaint {
    fn of(serde: &str) -> Complaint {
        let quoted: Vec<&str> = serde.split('`').skip(1).step_by(2).collect();
        let (word, known) = quoted.split_first().map_or(("", [].as_slice()), |(word, known)| (*word, known));
        let hint = || suggestion(word, "known here:", known);
        if serde.starts_with("unknown field") {
            return Complaint { message: format!("unknown key `{word}`"), hint: hint(), about: About::Key };
        }
        if serde.starts_with("unknown variant") {
            return Complaint {
                message: format!("unknown word `{word}`"),
                hint: hint(),
                about: About::Value,
            };
        }
        if serde.starts_with("missing field") {
            let message = format!("the key `{word}` is missing here");
            return Complaint { message, hint: None, about: About::Value };
        }
        let message = PLAIN_WORDS.iter().fold(serde.to_owned(), |text, (from, to)| text.replace(from, to));
        Complaint { message: in_types(&message), hint: None, about: About::Value }
    }
}

/// Serde terms, with the terms that YAML users know.
const PLAIN_WORDS: [(&str, &str); 15] = [
    ("invalid type: ", "found "),
    ("invalid value: ", "found "),
    ("invalid length ", "found a list of length "),
    ("a sequence", "a list"),
    ("sequence", "list"),
    ("found list", "found a list"),
    ("found map", "found a map"),
    ("expected map", "expected a map"),
    ("an object", "a map"),
    ("expected u32", "expected a non-negative whole number"),
    ("expected u16", "expected a whole number up to 65535"),
    ("unit variant", "only the word"),
    ("newtype variant", "a value"),
    ("integer `", "the number `"),
    ("floating point `", "the number `"),
];

/// `struct Turn` and `enum Point` are our internal names; readers know a map, or a word.
fn in_types(message: &str) -> String {
    let mut words = Vec::new();
    let mut rest = message.split(' ').peekable();
    while let Some(word) = rest.next() {
        let next_is_a_type =
            rest.peek().is_some_and(|next| next.starts_with(|c: char| c.is_ascii_uppercase()));
        match word {
            "struct" if next_is_a_type => {
                rest.next();
                words.push("a map with keys");
            }
            "enum" if next_is_a_type => {
                rest.next();
                words.push("a word, or a map with one key");
            }
            _ => words.push(word),
        }
    }
    words.join(" ")
}
