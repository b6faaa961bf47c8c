//! YAML as a tree in which every node and every key has its location in the text.
//!
//! This module handles only YAML, not scenarios. It rejects tags and merge keys: a scenario needs neither,
//! and both hide where a value comes from.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{
    DefaultMessageFormatter, DuplicateKeyPolicy, Error, Location, MergeKeyPolicy, MessageFormatter, Spanned,
};

use super::diagnostic::Diagnostic;

/// A range of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The 1-based line number.
    pub line: u32,
    /// The 1-based column, in characters.
    pub column: u32,
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

/// A value and its location.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub span: Span,
    pub kind: NodeKind,
}

/// The content of a node.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// Keys and values, in file order.
    Map(Vec<(Key, Node)>),
    List(Vec<Node>),
    /// Anything else: null, a boolean, a number or a string.
    Scalar(Value),
}

/// A key of a map.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    pub name: String,
    pub span: Span,
}

impl Node {
    /// The value of this key, if the node is a map that has it.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.entry(name).map(|(_, node)| node)
    }

    /// This key and its value, if the node is a map that has it.
    pub fn entry(&self, name: &str) -> Option<(&Key, &Node)> {
        match &self.kind {
            NodeKind::Map(entries) => {
                entries.iter().find(|(key, _)| key.name == name).map(|(key, node)| (key, node))
            }
            NodeKind::List(_) | NodeKind::Scalar(_) => None,
        }
    }

    /// The text, if the node is a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::Scalar(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The node as a value without locations.
    pub fn value(&self) -> Value {
        match &self.kind {
            NodeKind::Map(entries) => {
                Value::Object(entries.iter().map(|(key, node)| (key.name.clone(), node.value())).collect())
            }
            NodeKind::List(items) => Value::Array(items.iter().map(Node::value).collect()),
            NodeKind::Scalar(value) => value.clone(),
        }
    }

    /// The first placeholder in this node, if there is one.
    pub fn first_placeholder(&self) -> Option<&Node> {
        match &self.kind {
            NodeKind::Scalar(_) => self.as_str().and_then(placeholder).map(|_| self),
            NodeKind::List(items) => items.iter().find_map(Node::first_placeholder),
            NodeKind::Map(entries) => entries.iter().find_map(|(_, node)| node.first_placeholder()),
        }
    }
}

/// The name, if the text is exactly `$name`.
pub fn placeholder(text: &str) -> Option<&str> {
    text.strip_prefix('$').filter(|name| is_axis_name(name))
}

/// True if a name is allowed in `vary`.
pub fn is_axis_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Reads one YAML document.
pub fn read(file: &str, text: &str) -> Result<Node, Diagnostic> {
    if text.len() > MAX_TEXT {
        return Err(Diagnostic::new(
            file,
            "",
            Span::TOP,
            format!("the file has {} bytes, but at most {MAX_TEXT} are allowed", text.len()),
        ));
    }
    let root: Node =
        serde_saphyr::from_str_with_options(text, options()).map_err(|error| diagnose(file, text, &error))?;
    if root.kind == NodeKind::Scalar(Value::Null) {
        return Err(Diagnostic::new(file, text, root.span, "the file is empty"));
    }
    Ok(root)
}

/// The maximum size of a scenario file in bytes. The largest file in the built-in suite has about 3 KiB;
/// reports quote complete files.
pub const MAX_TEXT: usize = 1024 * 1024;

/// The maximum number of nodes in a file, and in a variant after its placeholders are filled in. A built-in
/// scenario has about 150; plans of the largest permitted scenario (256 calls with their arguments) stay
/// below 10 000.
pub const MAX_NODES: usize = 20_000;

/// The maximum nesting of maps and lists. The format itself needs 9; arguments may be nested a little.
const MAX_DEPTH: usize = 32;

/// The maximum number of anchors in a file. Scenarios are short, so a few shared blocks are enough.
const MAX_ANCHORS: usize = 64;

/// The maximum number of aliases in a file, for the same reason.
const MAX_ALIASES: usize = 256;

/// The maximum depth of aliases inside anchors inside aliases; more is an attempt to exhaust the parser.
const MAX_ALIAS_DEPTH: usize = 8;

impl Span {
    /// The beginning of a text.
    pub const TOP: Span = Span { line: 1, column: 1, start: 0, end: 0 };

    fn of(location: Location) -> Span {
        if location == Location::UNKNOWN {
            return Span::TOP;
        }
        let span = location.span();
        let start = usize::try_from(span.byte_offset().unwrap_or(0)).unwrap_or(0);
        let length = usize::try_from(span.byte_len().unwrap_or(0)).unwrap_or(0);
        Span {
            line: u32::try_from(location.line()).unwrap_or(u32::MAX),
            column: u32::try_from(location.column()).unwrap_or(u32::MAX),
            start,
            end: start.saturating_add(length),
        }
    }
}

impl Span {
    /// The parser gives some errors a line and a column but no byte offset; the text gives the byte.
    fn in_text(self, text: &str) -> Span {
        if self.start > 0 || (self.line, self.column) == (1, 1) {
            return self;
        }
        let above: usize =
            text.split_inclusive('\n').take(self.line.saturating_sub(1) as usize).map(str::len).sum();
        let beside: usize =
            text[above..].chars().take(self.column.saturating_sub(1) as usize).map(char::len_utf8).sum();
        Span { start: above + beside, end: above + beside, ..self }
    }
}

fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: MAX_NODES,
            max_events: 4 * MAX_NODES,
            max_depth: MAX_DEPTH,
            flow_nesting_limit: 2 * MAX_DEPTH,
            max_anchors: MAX_ANCHORS,
            max_aliases: MAX_ALIASES,
            max_recorded_anchor_events: 4 * MAX_NODES,
            max_documents: 1,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MAX_NODES,
            max_replay_stack_depth: MAX_ALIAS_DEPTH,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        strict_booleans: true,
        reject_unsupported_tags: true,
        with_snippet: false,
    }
}

fn diagnose(file: &str, text: &str, error: &Error) -> Diagnostic {
    let error = error.without_snippet();
    let span = error.location().map_or(Span::TOP, |location| Span::of(location).in_text(text));
    let too_much = |what: &str, limit: usize| (format!("the file has more than {limit} {what}"), None);
    let (message, hint) = match error {
        Error::AliasError { error, .. } => return diagnose(file, text, error),
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            (format!("the key `{key}` is given twice"), Some("keep one of the two".to_owned()))
        }
        Error::MultipleDocuments { .. } | Error::Budget { breach: BudgetBreach::Documents { .. }, .. } => {
            ("a file contains one document".to_owned(), Some("remove the `---` and what follows".to_owned()))
        }
        Error::MergeKeyNotAllowed { .. } => {
            ("merge keys are not supported".to_owned(), Some("write the keys out".to_owned()))
        }
        Error::NonFiniteFloat { value, .. } => (format!("`{value}` is not a finite number"), None),
        Error::Eof { .. } => ("the file is empty".to_owned(), None),
        Error::Budget { breach: BudgetBreach::Nodes { .. } | BudgetBreach::Events { .. }, .. } => {
            too_much("values", MAX_NODES)
        }
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => too_much("levels of nesting", MAX_DEPTH),
        Error::Budget { breach: BudgetBreach::Anchors { .. }, .. } => too_much("anchors", MAX_ANCHORS),
        Error::Budget { breach: BudgetBreach::Aliases { .. }, .. } => too_much("aliases", MAX_ALIASES),
        Error::AliasReplayLimitExceeded { .. } => too_much("values in its aliases", MAX_NODES),
        Error::AliasReplayStackDepthExceeded { .. } => too_much("levels of aliases", MAX_ALIAS_DEPTH),
        other => (in_house_style(&DefaultMessageFormatter.format_message(other)), None),
    };
    Diagnostic::new(file, text, span, message).with_hint(hint)
}

/// The parser's message in the form of all our messages: one line, lower case, no full stop.
fn in_house_style(message: &str) -> String {
    let line: String = message.trim().trim_end_matches('.').escape_debug().collect();
    let line = line.replace("\\'", "'").replace("\\\"", "\"");
    let mut chars = line.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => "this is not YAML".to_owned(),
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<NodeKind>::deserialize(deserializer)?;
        let mut span = Span::of(spanned.referenced);
        if let Some(end) = spanned.value.end() {
            span.end = span.end.max(end);
        }
        Ok(Node { span, kind: spanned.value })
    }
}

impl NodeKind {
    /// The end of the last value inside.
    fn end(&self) -> Option<usize> {
        match self {
            NodeKind::Map(entries) => entries.last().map(|(_, node)| node.span.end),
            NodeKind::List(items) => items.last().map(|node| node.span.end),
            NodeKind::Scalar(_) => None,
        }
    }
}

impl<'de> Deserialize<'de> for NodeKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KindVisitor)
    }
}

struct KindVisitor;

impl<'de> Visitor<'de> for KindVisitor {
    type Value = NodeKind;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<NodeKind, E> {
        Ok(NodeKind::Scalar(Value::Null))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<NodeKind, E> {
        Ok(NodeKind::Scalar(Value::Bool(value)))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<NodeKind, E> {
        Ok(NodeKind::Scalar(Value::from(value)))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<NodeKind, E> {
        Ok(NodeKind::Scalar(Value::from(value)))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<NodeKind, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("a number must be finite"))?;
        Ok(NodeKind::Scalar(Value::Number(number)))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<NodeKind, E> {
        Ok(NodeKind::Scalar(Value::String(value.to_owned())))
    }

    fn visit_string<E: de::Error>(self, value: String) -> Result<NodeKind, E> {
        Ok(NodeKind::Scalar(Value::String(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<NodeKind, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element::<Node>()? {
            items.push(item);
        }
        Ok(NodeKind::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<NodeKind, A::Error> {
        let mut entries = Vec::new();
        while let Some(name) = map.next_key::<Spanned<String>>()? {
            let key = Key { span: Span::of(name.referenced), name: name.value };
            entries.push((key, map.next_value::<Node>()?));
        }
        Ok(NodeKind::Map(entries))
    }
}
