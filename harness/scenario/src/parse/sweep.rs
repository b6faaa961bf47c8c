//! Values of `vary` that are written as expressions: `0..3`, `permutations(a, b, c)`, `points(turn 1)`.
//!
//! The points in a turn are read from the file as written, without a dialect. Points that a dialect lacks
//! become impossible plans there.

use serde_json::{Value, json};

use super::SourceFile;
use super::diagnostic::Diagnostic;
use super::tree::{Node, NodeKind};
use crate::point::{Point, Shape, Which, in_stream};
use crate::scenario::MAX_DELTAS;

/// The maximum number of calls that `permutations` takes: four have 24 orders, and each order is a variant.
const MAX_PERMUTED: usize = 4;

/// The number of deltas for a call that does not set it.
const DELTAS: u64 = 3;

/// The number of fragments in which a text or a thought is sent.
const FRAGMENTS: u32 = 2;

/// The supported expressions.
const HINT: &str =
    "write `0..3`, `permutations(a, b, c)`, `points(turn 1)`, `points(turn 1, reply 2)`, or a list of values";

/// The values of an expression.
pub(super) fn values(source: &SourceFile, words: &Node, text: &str) -> Result<Vec<Node>, Diagnostic> {
    let wrong = |message: String| source.at(words.span, message).with_hint(Some(HINT.to_owned()));
    let values = match Sweep::read(text) {
        Some(Sweep::Range(first, last)) if first > last => {
            return Err(wrong(format!("`{text}` has no values: it goes from {first} to {last}")));
        }
        // One more than an axis may have, so that the error reports the limit of the axis.
        Some(Sweep::Range(first, last)) => {
            (first..=last).take(super::vary::MAX_VALUES + 1).map(|number| json!(number)).collect()
        }
        Some(Sweep::Permutations(names)) if names.len() > MAX_PERMUTED => {
            return Err(wrong(format!("more than {MAX_PERMUTED} names have too many permutations")));
        }
        Some(Sweep::Permutations(names)) => {
            permutations(&names).into_iter().map(|order| json!(order)).collect()
        }
        Some(Sweep::Points { turn, reply }) => {
            let found = points(source, turn, reply);
            found.ok_or_else(|| wrong(format!("the file has no reply {reply} in a turn {turn}")))?
        }
        None => return Err(wrong(format!("`{text}` cannot be read"))),
    };
    Ok(values.into_iter().map(|value| node(words, &value)).collect())
}

/// A parsed expression.
#[derive(Debug, PartialEq, Eq)]
enum Sweep<'a> {
    /// From one number to another, both included.
    Range(u64, u64),
    /// All permutations of these names.
    Permutations(Vec<&'a str>),
    /// The points in a reply, counted from 1. Tool points belong to the first reply.
    Points { turn: usize, reply: usize },
}

impl Sweep<'_> {
    fn read(text: &str) -> Option<Sweep<'_>> {
        if let Some((first, last)) = text.split_once("..") {
            return Some(Sweep::Range(first.trim().parse().ok()?, last.trim().parse().ok()?));
        }
        let (name, rest) = text.split_once('(')?;
        let inside: Vec<&str> = rest.strip_suffix(')')?.split(',').map(str::trim).collect();
        let number = |word: &str, key: &str| -> Option<usize> {
            word.strip_prefix(key)?.trim().parse().ok().filter(|number| *number > 0)
        };
        match (name.trim(), inside.as_slice()) {
            ("permutations", names) if names.iter().all(|name| !name.is_empty()) => {
                Some(Sweep::Permutations(names.to_vec()))
            }
            ("points", [turn]) => Some(Sweep::Points { turn: number(turn, "turn ")?, reply: 1 }),
            ("points", [turn, reply]) => {
                Some(Sweep::Points { turn: number(turn, "turn ")?, reply: number(reply, "reply ")? })
            }
            _ => None,
        }
    }
}

/// Every order of some names, with the given order first.
fn permutations<'a>(names: &[&'a str]) -> Vec<Vec<&'a str>> {
    if names.is_empty() {
        return vec![Vec::new()];
    }
    let begin_with = |at: usize| {
        let mut rest = names.to_vec();
        let first = rest.remove(at);
        permutations(&rest).into_iter().map(move |mut order| {
            order.insert(0, first);
            order
        })
    };
    (0..names.len()).flat_map(begin_with).collect()
}

/// The points after which something may happen, in causal order: those of the stream, then, for the first
/// reply, those of the tools. `None` if there is no such reply.
fn points(source: &SourceFile, turn: usize, reply: usize) -> Option<Vec<Value>> {
    let said = item(item(source.root.get("turns")?, turn - 1)?.get("replies")?, reply - 1)?;
    let blocks = match said.get("attempts") {
        Some(attempts) => item(attempts, 0)?,
        None => said,
    };
    let NodeKind::List(blocks) = &blocks.kind else { return None };
    let shapes: Vec<Shape<'_>> = blocks.iter().filter_map(shape).collect();
    let n_calls = shapes.iter().filter(|shape| matches!(shape, Shape::Call(..))).count() as u32;
    let mut points = in_stream(shapes);
    if reply == 1 && n_calls > 0 {
        points.extend((1..=n_calls).map(|count| Point::Started(Which::Count(count))));
        points.extend((0..=n_calls).map(|count| Point::Settled(Which::Count(count))));
    }
    Some(points.iter().map(|point| json!(point)).collect())
}

/// A block as written, before its values are known: every text is assumed to have two fragments.
fn shape(block: &Node) -> Option<Shape<'_>> {
    if block.get("think").is_some() {
        return Some(Shape::Think(FRAGMENTS));
    }
    if block.get("text").is_some() {
        return Some(Shape::Text(FRAGMENTS));
    }
    if let Some(search) = block.get("search") {
        return Some(Shape::Search(search.get("as")?.as_str()?, search.get("finds").is_some()));
    }
    if let Some(found) = block.get("found") {
        return Some(Shape::Found(found.get("search")?.as_str()?));
    }
    let call = block.get("call")?;
    let n_deltas = call.get("deltas").and_then(|node| node.value().as_u64()).unwrap_or(DELTAS);
    Some(Shape::Call(call.get("as")?.as_str()?, n_deltas.min(u64::from(MAX_DELTAS)) as u32))
}

fn item(list: &Node, at: usize) -> Option<&Node> {
    match &list.kind {
        NodeKind::List(items) => items.get(at),
        NodeKind::Map(_) | NodeKind::Scalar(_) => None,
    }
}

/// A value at the location of the expression.
fn node(words: &Node, value: &Value) -> Node {
    let kind = match value {
        Value::Object(entries) => {
            let key = |name: &String| super::Key { name: name.clone(), span: words.span };
            NodeKind::Map(entries.iter().map(|(name, value)| (key(name), node(words, value))).collect())
        }
        Value::Array(items) => NodeKind::List(items.iter().map(|item| node(words, item)).collect()),
        scalar => NodeKind::Scalar(scalar.clone()),
    };
    Node { span: words.span, kind }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_parsed() {
        assert_eq!(Sweep::read("0..3"), Some(Sweep::Range(0, 3)));
        assert_eq!(Sweep::read("points(turn 2)"), Some(Sweep::Points { turn: 2, reply: 1 }));
        assert_eq!(Sweep::read("points(turn 1, reply 2)"), Some(Sweep::Points { turn: 1, reply: 2 }));
        assert_eq!(Sweep::read("permutations(a, b)"), Some(Sweep::Permutations(vec!["a", "b"])));
        for wrong in
            ["", "a", "1..", "points(turn 0)", "points()", "points(turn 1", "permutations(a,)", "0..x"]
        {
            assert_eq!(Sweep::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn every_order_occurs_once_and_the_given_one_first() {
        let orders = permutations(&["a", "b", "c"]);
        assert_eq!(orders.len(), 6);
        assert_eq!(orders[0], ["a", "b", "c"]);
        assert_eq!(orders[5], ["c", "b", "a"]);
    }
}
