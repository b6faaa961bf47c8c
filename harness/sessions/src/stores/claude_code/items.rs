//! The chain as replies and the lines between them.

use std::collections::BTreeSet;

use super::line::{Kind, Record};
use super::tree::{Leaf, Tree};

/// A part of the branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    /// A reply of the model.
    Reply(Reply),
    /// A user line.
    Line(usize),
}

/// The lines of one reply.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Reply {
    /// The lines of its blocks, those on the chain first.
    pub(super) lines: Vec<usize>,
    /// Result lines that are not on the chain.
    pub(super) results: Vec<usize>,
}

impl Leaf {
    /// Returns whether a line of this kind belongs to the conversation that ends here.
    pub(super) fn takes(self, record: &Record) -> bool {
        (!record.is_sidechain || self.is_sidechain) && (!record.is_team || self.is_team)
    }
}

/// The reply that is being assembled.
#[derive(Default)]
struct Open<'r> {
    /// The index of its item.
    item: Option<usize>,
    /// Its `message.id`.
    id: Option<&'r str>,
    /// Its calls that have no result yet.
    calls: BTreeSet<&'r str>,
    /// True if the user has spoken since, which includes results.
    is_interrupted: bool,
}

/// Joins each message's lines. Lines that are never sent are left out.
///
/// Lines with the same `message.id` are one reply, even with its results between them. But when all its calls
/// are answered, or the user has spoken, the next line begins a new message in spite of its id. The product
/// sends it this way (a user line between a server tool call and its result bricks a session,
/// anthropics/claude-code#89348), and a proxy may give all replies the same id.
pub(super) fn of_chain(tree: &Tree, chain: &[usize], leaf: Leaf) -> Vec<Item> {
    let mut items = Vec::new();
    let mut open = Open::default();
    for at in chain {
        let record = &tree.records[*at];
        if !leaf.takes(record) || record.is_api_error && record.kind == Kind::Assistant {
            continue;
        }
        match record.kind {
            Kind::Boundary => {}
            Kind::Link if record.is_known => {}
            Kind::Assistant => {
                let is_more = open.id.is_some() && open.id == record.message_id.as_deref();
                let is_same = is_more && (!open.is_interrupted || !open.calls.is_empty());
                match open.item.filter(|_| is_same).and_then(|item| items.get_mut(item)) {
                    Some(Item::Reply(reply)) => reply.lines.push(*at),
                    _ => {
                        let (item, id) = (Some(items.len()), record.message_id.as_deref());
                        open = Open { item, id, ..Open::default() };
                        items.push(Item::Reply(Reply { lines: vec![*at], results: Vec::new() }));
                    }
                }
                open.calls.extend(record.calls.iter().map(String::as_str));
            }
            Kind::User | Kind::LocalCommand | Kind::Link => {
                for id in &record.results {
                    open.calls.remove(id.as_str());
                }
                open.is_interrupted = true;
                items.push(Item::Line(*at));
            }
        }
    }
    items
}
