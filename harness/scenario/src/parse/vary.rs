//! `vary`: the variants of a file, their names, and the value of each `$name` in them.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;

use super::SourceFile;
use super::diagnostic::Diagnostic;
use super::suggest::suggestion;
use super::sweep;
use super::tree::{Key, MAX_NODES, Node, NodeKind, is_axis_name, placeholder};

/// A name of `vary` with its values.
#[derive(Debug)]
pub struct Axis<'a> {
    key: &'a Key,
    values: Cow<'a, [Node]>,
}

/// One value for each axis.
#[derive(Debug, Clone)]
pub struct Choice<'a> {
    /// The variant's name.
    pub name: String,
    values: Vec<(&'a str, &'a Node)>,
}

/// The maximum number of variants in a file. Every variant runs in every dialect and on every system; more
/// variants are a task for a generator.
const MAX_VARIANTS: usize = 512;

/// The maximum number of values on one axis. A turn has about 40 points, so a scenario can name each of them.
pub(super) const MAX_VALUES: usize = 64;

/// The maximum number of axes in a file: 512 variants allow at most nine axes of two values.
const MAX_AXES: usize = 9;

/// The maximum length of a variant's name in bytes: file names have at most 255, and they also contain the
/// scenario and the dialect.
const MAX_NAME: usize = 120;

/// The maximum total number of nodes in all variants of a file, so that a small file cannot fill the memory.
const MAX_TOTAL_NODES: usize = 1_000_000;

/// Reads the axes of a file.
pub fn axes(source: &SourceFile) -> Result<Vec<Axis<'_>>, Diagnostic> {
    let Some(vary) = source.root.get("vary") else { return Ok(Vec::new()) };
    let NodeKind::Map(entries) = &vary.kind else {
        return Err(source.at(vary.span, "`vary` is a map from names to lists of values"));
    };
    if entries.len() > MAX_AXES {
        return Err(source.at(vary.span, format!("`vary` has more than {MAX_AXES} names")));
    }
    entries.iter().map(|(key, node)| axis(source, key, node)).collect()
}

fn axis<'a>(source: &SourceFile, key: &'a Key, node: &'a Node) -> Result<Axis<'a>, Diagnostic> {
    if !is_axis_name(&key.name) {
        return Err(source
            .at(key.span, format!("`{}` cannot be a name in `vary`", key.name))
            .with_hint(Some("use lowercase letters, digits and `_`, and begin with a letter".to_owned())));
    }
    let values = match (&node.kind, node.as_str()) {
        (NodeKind::List(values), _) => Cow::Borrowed(values.as_slice()),
        (_, Some(words)) => Cow::Owned(sweep::values(source, node, words)?),
        _ => {
            return Err(source
                .at(node.span, format!("`{}` takes a list of values", key.name))
                .with_hint(Some(format!("write `{}: [0, 1, 2]`", key.name))));
        }
    };
    if values.is_empty() {
        return Err(source.at(key.span, format!("`{}` has no values, so there are no variants", key.name)));
    }
    if values.len() > MAX_VALUES {
        return Err(source.at(key.span, format!("`{}` has more than {MAX_VALUES} values", key.name)));
    }
    match values.iter().find_map(Node::first_placeholder) {
        Some(inner) => Err(source.at(inner.span, "a value of `vary` cannot be a placeholder itself")),
        None => Ok(Axis { key, values }),
    }
}

/// Every combination of the values; the last axis changes fastest.
pub fn choices<'a>(source: &SourceFile, axes: &'a [Axis<'a>]) -> Result<Vec<Choice<'a>>, Diagnostic> {
    let whole = || source.root.entry("vary").map_or(source.root.span, |(key, _)| key.span);
    let count = axes.iter().try_fold(1_usize, |count, axis| count.checked_mul(axis.values.len()));
    if count.is_none_or(|count| count > MAX_VARIANTS) {
        return Err(source.at(whole(), format!("the file has more than {MAX_VARIANTS} variants")));
    }
    let mut choices = vec![Choice { name: String::new(), values: Vec::new() }];
    for axis in axes {
        choices = choices
            .iter()
            .flat_map(|choice| axis.values.iter().map(|value| choice.and(&axis.key.name, value)))
            .collect();
    }
    let mut names = BTreeSet::new();
    for choice in &choices {
        if choice.name.len() > MAX_NAME {
            let message =
                format!("the variant's name would be longer than {MAX_NAME} bytes: `{}`", choice.name);
            return Err(source.at(whole(), message).with_hint(Some("use shorter values".to_owned())));
        }
        if !names.insert(choice.name.as_str()) {
            return Err(source.at(whole(), format!("two variants are both named `{}`", choice.name)));
        }
    }
    Ok(choices)
}

impl<'a> Choice<'a> {
    fn and(&self, axis: &'a str, value: &'a Node) -> Choice<'a> {
        let mut words = String::new();
        name_value(value, &mut words);
        let word = if words.is_empty() { "empty" } else { &words };
        let separator = if self.name.is_empty() { "" } else { "," };
        let mut values = self.values.clone();
        values.push((axis, value));
        Choice { name: format!("{}{separator}{axis}={word}", self.name), values }
    }

    fn value(&self, axis: &str) -> Option<&'a Node> {
        self.values.iter().find(|(name, _)| *name == axis).map(|(_, value)| *value)
    }
}

/// Writes a value in characters that are allowed in a file name: `b-a-c`, `start-a`.
fn name_value(value: &Node, words: &mut String) {
    // The length of the name is checked later; a huge value need not be written in full to be too long.
    if words.len() > MAX_NAME {
        return;
    }
    match &value.kind {
        NodeKind::Scalar(Value::String(text)) => name_word(text, words),
        NodeKind::Scalar(other) => name_word(&other.to_string(), words),
        NodeKind::List(items) => items.iter().for_each(|item| name_value(item, words)),
        NodeKind::Map(entries) => entries.iter().for_each(|(key, node)| {
            name_word(&key.name, words);
            name_value(node, words);
        }),
    }
}

fn name_word(text: &str, words: &mut String) {
    if !words.is_empty() {
        words.push('-');
    }
    words.extend(text.chars().take(MAX_NAME + 1).map(|c| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' | '-' => c,
        _ => '-',
    }));
}

/// Fills in the placeholders of a file, variant by variant.
#[derive(Debug)]
pub struct Filling<'a> {
    source: &'a SourceFile,
    axes: &'a [Axis<'a>],
    used: BTreeSet<String>,
    total: usize,
}

impl<'a> Filling<'a> {
    /// Starts with no axis used.
    pub fn new(source: &'a SourceFile, axes: &'a [Axis<'a>]) -> Filling<'a> {
        Filling { source, axes, used: BTreeSet::new(), total: 0 }
    }

    /// The file of one variant, without `vary`.
    pub fn fill(&mut self, choice: &Choice<'_>) -> Result<Value, Diagnostic> {
        let mut size = 0;
        let mut root = self.value(&self.source.root, choice, &mut size)?;
        if let Value::Object(keys) = &mut root {
            keys.shift_remove("vary");
        }
        self.total += size;
        if self.total > MAX_TOTAL_NODES {
            let message = format!("the variants have more than {MAX_TOTAL_NODES} values in total");
            return Err(self.source.at(self.source.root.span, message));
        }
        Ok(root)
    }

    /// Checks that every axis was used.
    pub fn finish(self) -> Result<(), Diagnostic> {
        match self.axes.iter().find(|axis| !self.used.contains(&axis.key.name)) {
            Some(axis) => Err(self
                .source
                .at(axis.key.span, format!("`{}` is never used", axis.key.name))
                .with_hint(Some(format!("write `${}` where its values belong", axis.key.name)))),
            None => Ok(()),
        }
    }

    fn value(&mut self, node: &Node, choice: &Choice<'_>, size: &mut usize) -> Result<Value, Diagnostic> {
        *size += 1;
        if *size > MAX_NODES {
            let message = format!("the variant `{}` has more than {MAX_NODES} values", choice.name);
            return Err(self.source.at(node.span, message));
        }
        match &node.kind {
            NodeKind::Scalar(Value::String(text)) => match placeholder(text) {
                Some(axis) => self.placed(node, axis, choice, size),
                None => Ok(Value::String(text.clone())),
            },
            NodeKind::Scalar(other) => Ok(other.clone()),
            NodeKind::List(items) => items
                .iter()
                .map(|item| self.value(item, choice, size))
                .collect::<Result<_, _>>()
                .map(Value::Array),
            NodeKind::Map(entries) => {
                let mut object = serde_json::Map::new();
                for (key, node) in entries {
                    if placeholder(&key.name).is_some() {
                        return Err(self
                            .source
                            .at(key.span, "a placeholder stands for a value, not for a key"));
                    }
                    object.insert(key.name.clone(), self.value(node, choice, size)?);
                }
                Ok(Value::Object(object))
            }
        }
    }

    fn placed(
        &mut self,
        node: &Node,
        axis: &str,
        choice: &Choice<'_>,
        size: &mut usize,
    ) -> Result<Value, Diagnostic> {
        match choice.value(axis) {
            Some(value) => {
                if !self.used.contains(axis) {
                    self.used.insert(axis.to_owned());
                }
                // The values contain no placeholders, so this recurses only one level.
                self.value(value, choice, size)
            }
            None => {
                let names: Vec<&str> = self.axes.iter().map(|axis| axis.key.name.as_str()).collect();
                let hint = suggestion(axis, "`vary` has", &names)
                    .unwrap_or_else(|| format!("give its values: `vary: {{ {axis}: [1, 2] }}`"));
                Err(self.source.at(node.span, format!("`${axis}` is not in `vary`")).with_hint(Some(hint)))
            }
        }
    }
}
