//! Reasoning and what came of it are sent together, or neither is.

use hashbrown::HashSet;
use std::borrow::Cow;

use super::super::Memory;
use super::super::ids::Ids;
use super::super::violation::{Breach, Breaches};
use super::table::*;
use super::{Item, Kind, at};
use crate::json::Json;

/// The reasoning of a request.
#[derive(Debug, Default)]
pub(super) struct Reasoning<'a> {
    /// Reasoning after which nothing has come yet.
    open: Option<Thought<'a>>,
    /// Reasoning that is not followed by what came of it.
    alone: Vec<(Thought<'a>, Why)>,
    /// Reasoning that is neither whole nor kept, where nothing is stored.
    empty: Vec<(usize, Cow<'a, str>)>,
    /// Items that the provider knows to have come of reasoning.
    results: Vec<Outcome<'a>>,
    /// Ids of items of earlier responses.
    before: HashSet<Cow<'a, str>>,
}

#[derive(Debug)]
struct Thought<'a> {
    n: usize,
    id: Cow<'a, str>,
    is_encrypted: bool,
}

/// Why reasoning is taken to be alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    /// What follows is nothing that comes of reasoning, or came of another.
    OtherItem,
    /// What follows has no id, so that nobody knows what it came of.
    NoId,
}

#[derive(Debug)]
struct Outcome<'a> {
    n: usize,
    id: Cow<'a, str>,
    kind: Cow<'a, str>,
    reasoning: &'a str,
}

impl<'a> Reasoning<'a> {
    /// Takes the next item.
    pub(super) fn item(&mut self, item: Item<'_, 'a>, memory: &'a Memory) {
        let (n, kind) = (item.n, item.kind);
        let id = item.id().filter(|id| !id.is_empty());
        let is_thought = match (kind, &id) {
            (Kind::Reasoning, Some(_)) => true,
            (Kind::Reference, Some(id)) => id.starts_with("rs_"),
            _ => false,
        };
        if let Some(thought) = self.open.take()
            && let Some(why) = lacks_its_item(&thought, kind, is_thought, id.as_deref(), memory)
        {
            self.alone.push((thought, why));
        }
        let Some(id) = id else { return };
        if let Some(reasoning) = memory.replies.item(&id).and_then(|found| found.reasoning) {
            let kind = item.json.field("type").as_str().unwrap_or(Cow::Borrowed("message"));
            self.results.push(Outcome { n, id: id.clone(), kind, reasoning });
        }
        if is_thought {
            let is_encrypted = item.json.field("encrypted_content").is_str();
            if kind == Kind::Reasoning && !is_encrypted && item.content.is_none_or(Json::is_empty) {
                self.empty.push((n, id.clone()));
            }
            self.open = Some(Thought { n, id, is_encrypted });
        }
    }

    /// Takes an item of an earlier response.
    pub(super) fn said_before(&mut self, id: Cow<'a, str>) {
        self.before.insert(id);
    }

    /// No item can come any more. `sent` are the ids of all that were sent.
    pub(super) fn finish(&mut self, is_stored: bool, sent: &Ids<'a>, out: &mut Breaches) {
        if !is_stored {
            for (n, id) in self.empty.drain(..) {
                out.add(&ITEM_NOT_FOUND, || of_item(n, &id));
            }
        }
        self.alone.extend(self.open.take().map(|thought| (thought, Why::OtherItem)));
        for (thought, why) in self.alone.drain(..) {
            let breach = || of_item(thought.n, &thought.id);
            // Refused where the provider stores what it says; where it does not, nobody has shown either.
            match why == Why::NoId && thought.is_encrypted && !is_stored {
                true => out.warn(&REASONING_WITHOUT_ITEM, breach),
                false => out.add(&REASONING_WITHOUT_ITEM, breach),
            }
        }
        for Outcome { n, id, kind, reasoning } in self.results.drain(..) {
            if sent.find(reasoning).is_none() && !self.before.contains(reasoning) {
                out.add(&ITEM_WITHOUT_REASONING, || {
                    of_item(n, &id).with("type", kind).with("reasoning", reasoning)
                });
            }
        }
    }
}

/// Why the item after reasoning is not the one that came of it, if it is not.
fn lacks_its_item(
    thought: &Thought<'_>,
    kind: Kind,
    is_thought: bool,
    id: Option<&str>,
    memory: &Memory,
) -> Option<Why> {
    let known = memory.replies.item(&thought.id).and_then(|found| found.result);
    match kind {
        // Several thoughts in a row were seen; they are judged by what follows the last.
        Kind::Reasoning => None,
        Kind::Reference if is_thought => None,
        Kind::Prompt | Kind::Output(_) => Some(Why::OtherItem),
        Kind::Said | Kind::Call(_) if id.is_none() => Some(Why::NoId),
        _ if known.is_some() && id.is_some() && known != id => Some(Why::OtherItem),
        _ => None,
    }
}

fn of_item(n: usize, id: &str) -> Breach {
    Breach::at(format!("{}/id", at(n))).param("input".to_owned()).with("id", id)
}
