//! Parses the text of a scenario file into its variants, and reports every error with its location.
//!
//! `parse::tree` reads the text as a tree that keeps the location of every value. `parse::vary` determines
//! the variants and the value of each `$name` in them. `parse::typed` reads the result as a [`Scenario`].
//! [`crate::lower`] decides whether a scenario makes sense; it traces its problems back to the text with
//! [`Variant::locate`]. [`document`] reads other YAML files, such as manifests, with the same care.

use std::sync::Arc;

use serde::de::DeserializeOwned;

mod diagnostic;
mod schema;
mod suggest;
mod sweep;
mod tree;
mod typed;
mod vary;

pub use diagnostic::Diagnostic;
pub use schema::{history_schema, schema};
pub use suggest::{MAX_GUESSED, did_you_mean, one_of, suggestion};
pub use tree::{MAX_TEXT, Span};

use crate::scenario::Scenario;
use tree::{Key, Node, NodeKind, placeholder};

/// One variant of a scenario file.
#[derive(Debug, Clone)]
pub struct Variant {
    /// The variant's values as text, such as `k=1`; empty if the file does not vary.
    pub name: String,
    /// The scenario with every placeholder filled in.
    pub scenario: Scenario,
    source: Arc<SourceFile>,
}

/// Reads a scenario file.
pub fn parse(file_name: &str, text: &str) -> Result<Vec<Variant>, Diagnostic> {
    let root = tree::read(file_name, text)?;
    let source = Arc::new(SourceFile { file: file_name.to_owned(), text: text.to_owned(), root });
    let axes = vary::axes(&source)?;
    let choices = vary::choices(&source, &axes)?;
    let mut filling = vary::Filling::new(&source, &axes);
    let mut variants = Vec::with_capacity(choices.len());
    for (index, choice) in choices.iter().enumerate() {
        let value = filling.fill(choice)?;
        match typed::typed(&source, value) {
            Ok(scenario) => {
                variants.push(Variant { name: choice.name.clone(), scenario, source: Arc::clone(&source) });
            }
            Err(error) if index == 0 && fails_everywhere(&source, &mut filling, &choices, &error) => {
                return Err(error);
            }
            Err(error) => return Err(error.with_note(note(&choice.name))),
        }
    }
    filling.finish()?;
    Ok(variants)
}

/// Reads a YAML file that is not a scenario: it has no variants, and `$name` is plain text. `check` returns
/// an error that the types cannot detect: a JSON pointer to its location, and a message.
pub fn document<T: DeserializeOwned>(
    file_name: &str,
    text: &str,
    check: impl FnOnce(&T) -> Option<(String, String)>,
) -> Result<T, Diagnostic> {
    let root = tree::read(file_name, text)?;
    let value = root.value();
    let source = SourceFile { file: file_name.to_owned(), text: text.to_owned(), root };
    let document = typed::typed(&source, value)?;
    match check(&document) {
        Some((pointer, message)) => Err(source.at(source.locate_steps(&steps(&pointer)), message)),
        None => Ok(document),
    }
}

/// The steps of a JSON pointer, unescaped.
fn steps(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect()
}

/// True if every variant has the same error, so the message should not name a variant.
fn fails_everywhere(
    source: &SourceFile,
    filling: &mut vary::Filling<'_>,
    choices: &[vary::Choice<'_>],
    error: &Diagnostic,
) -> bool {
    choices.iter().skip(1).all(|choice| {
        let value = filling.fill(choice);
        value.is_ok_and(|value| typed::typed::<Scenario>(source, value).is_err_and(|other| other == *error))
    })
}

/// A note that names the variant of an error.
fn note(variant: &str) -> Option<String> {
    (!variant.is_empty()).then(|| format!("in the variant `{variant}`"))
}

impl Variant {
    /// The location in the file that a JSON pointer into the scenario refers to. If the pointer goes deeper
    /// than the file, this is the nearest location above; for a filled-in value, it is the location of its
    /// `$name`.
    pub fn locate(&self, pointer: &str) -> Span {
        self.source.locate_steps(&steps(pointer))
    }

    /// An error in every variant, at the location that a JSON pointer into the scenario refers to.
    pub fn diagnose(&self, pointer: &str, message: &str, hint: Option<String>) -> Diagnostic {
        self.source.at(self.locate(pointer), message).with_hint(hint)
    }

    /// Like [`Variant::diagnose`], for an error in only this variant.
    pub fn diagnose_own(&self, pointer: &str, message: &str, hint: Option<String>) -> Diagnostic {
        self.diagnose(pointer, message, hint).with_note(note(&self.name))
    }
}

/// A file and its tree.
#[derive(Debug)]
struct SourceFile {
    file: String,
    text: String,
    root: Node,
}

impl SourceFile {
    fn at(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(&self.file, &self.text, span, message)
    }

    /// The location of a value. For a map or a list under a key, it is the location of the key.
    fn locate_steps(&self, steps: &[String]) -> Span {
        let (key, node) = self.walk(steps);
        match (&node.kind, key) {
            (NodeKind::Map(_) | NodeKind::List(_), Some(key)) => key.span,
            _ => node.span,
        }
    }

    /// The location of a key.
    fn locate_key(&self, steps: &[String]) -> Span {
        let (key, node) = self.walk(steps);
        key.map_or(node.span, |key| key.span)
    }

    /// The deepest node on the path that exists, with its key if it has one.
    fn walk(&self, steps: &[String]) -> (Option<&Key>, &Node) {
        let mut found = (None, &self.root);
        let mut rest = steps;
        while let Some((step, after)) = rest.split_first() {
            let node = found.1;
            if node.as_str().and_then(placeholder).is_some() {
                break;
            }
            rest = after;
            found = match (&node.kind, step.as_str()) {
                (NodeKind::Map(_), name) => match (node.entry(name), name) {
                    (Some((key, value)), _) => (Some(key), value),
                    // The pointer contains `attempts`, but the file has the short form of a reply with one
                    // attempt.
                    (None, "attempts") => match node.entry("blocks") {
                        Some((key, value)) => {
                            rest = rest.get(1..).unwrap_or_default();
                            (Some(key), value)
                        }
                        None => break,
                    },
                    (None, _) => break,
                },
                (NodeKind::List(_), "attempts") => {
                    rest = rest.get(1..).unwrap_or_default();
                    continue;
                }
                (NodeKind::List(items), index) => {
                    match index.parse().ok().and_then(|index: usize| items.get(index)) {
                        Some(item) => (None, item),
                        None => break,
                    }
                }
                (NodeKind::Scalar(_), _) => break,
            };
        }
        found
    }
}
