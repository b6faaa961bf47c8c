//! A YAML file of any of our formats: its value, and the places of its parts.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::diagnostic::Diagnostic;
use super::tree::{Kind, Node};
use super::{Source, Span, tree, typed};

/// A file as it was read.
#[derive(Debug)]
pub struct Document<T> {
    /// What it says.
    pub value: T,
    source: Source,
}

impl<T: DeserializeOwned> Document<T> {
    /// Reads a file; its reader names it `file_name`.
    pub fn read(file_name: &str, text: &str) -> Result<Document<T>, Diagnostic> {
        let root = tree::read(file_name, text)?;
        let plain = plain(&root);
        let source = Source { file: file_name.to_owned(), text: text.to_owned(), root };
        let value = typed::read(&source, plain)?;
        Ok(Document { value, source })
    }

    /// A mistake at the place that a JSON pointer into the value speaks of.
    pub fn diagnose(&self, pointer: &str, message: &str, hint: Option<String>) -> Diagnostic {
        self.source.at(self.locate(pointer), message).with_hint(hint)
    }

    fn locate(&self, pointer: &str) -> Span {
        let steps: Vec<String> = pointer.split('/').skip(1).map(str::to_owned).collect();
        self.source.locate_steps(&steps)
    }
}

/// The tree without its places.
fn plain(node: &Node) -> Value {
    match &node.kind {
        Kind::Scalar(value) => value.clone(),
        Kind::List(items) => Value::Array(items.iter().map(plain).collect()),
        Kind::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| (key.name.clone(), plain(value)));
            Value::Object(entries.collect::<Map<String, Value>>())
        }
    }
}
