//! Reasoning and its result are sent together, or neither is sent.

use crate::dialects::responses::state::ITEM_NOT_FOUND;
use crate::{Ids, Memory, Occurrence, Rule, Violations};
use hashbrown::HashSet;
use std::borrow::Cow;

use super::{Item, ItemKind, at};
use crate::json::Json;

#[derive(Debug, Default)]
pub(super) struct Reasoning<'a> {
    /// Reasoning without a following item so far.
    open: Option<ReasoningItem<'a>>,
    /// Reasoning that is not followed by its result.
    alone: Vec<(ReasoningItem<'a>, Why)>,
    /// Reasoning without content, encrypted or not, in a request that is not stored.
    empty: Vec<(usize, Cow<'a, str>)>,
    /// Items that the provider knows as results of reasoning.
    results: Vec<OutputItem<'a>>,
    /// Ids of items from earlier responses.
    before: HashSet<Cow<'a, str>>,
}

#[derive(Debug)]
struct ReasoningItem<'a> {
    n: usize,
    id: Cow<'a, str>,
    is_encrypted: bool,
}

/// Why reasoning counts as alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    /// The next item cannot be a result of reasoning, or is the result of other reasoning.
    OtherItem,
    /// The next item has no id, so its reasoning is unknown.
    NoId,
}

#[derive(Debug)]
struct OutputItem<'a> {
    n: usize,
    id: Cow<'a, str>,
    kind: Cow<'a, str>,
    reasoning: &'a str,
}

impl<'a> Reasoning<'a> {
    pub(super) fn item(&mut self, item: Item<'_, 'a>, memory: &'a Memory) {
        let (n, kind) = (item.n, item.kind);
        let id = item.id().filter(|id| !id.is_empty());
        let is_thought = match (kind, &id) {
            (ItemKind::Reasoning, Some(_)) => true,
            (ItemKind::Reference, Some(id)) => id.starts_with("rs_"),
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
            self.results.push(OutputItem { n, id: id.clone(), kind, reasoning });
        }
        if is_thought {
            let is_encrypted = item.json.field("encrypted_content").is_str();
            if kind == ItemKind::Reasoning && !is_encrypted && item.content.is_none_or(Json::is_empty) {
                self.empty.push((n, id.clone()));
            }
            self.open = Some(ReasoningItem { n, id, is_encrypted });
        }
    }

    pub(super) fn said_before(&mut self, id: Cow<'a, str>) {
        self.before.insert(id);
    }

    /// Reports the violations after the last item. `sent` contains the ids of all sent items.
    pub(super) fn finish(&mut self, is_stored: bool, sent: &Ids<'a>, out: &mut Violations) {
        if !is_stored {
            for (n, id) in self.empty.drain(..) {
                out.add(&ITEM_NOT_FOUND, || of_item(n, &id));
            }
        }
        self.alone.extend(self.open.take().map(|thought| (thought, Why::OtherItem)));
        for (thought, why) in self.alone.drain(..) {
            let violation = || of_item(thought.n, &thought.id);
            // This is rejected if the provider stores the reply. Otherwise, neither a rejection nor an
            // acceptance is known.
            if why == Why::NoId && thought.is_encrypted && !is_stored {
                out.warn(&REASONING_WITHOUT_ITEM, violation)
            } else {
                out.add(&REASONING_WITHOUT_ITEM, violation)
            }
        }
        for OutputItem { n, id, kind, reasoning } in self.results.drain(..) {
            if sent.find(reasoning).is_none() && !self.before.contains(reasoning) {
                out.add(&ITEM_WITHOUT_REASONING, || {
                    of_item(n, &id).with("type", kind).with("reasoning", reasoning)
                });
            }
        }
    }
}

/// Returns why the item after the reasoning is not its result. `None` if it may be.
fn lacks_its_item(
    thought: &ReasoningItem<'_>,
    kind: ItemKind,
    is_thought: bool,
    id: Option<&str>,
    memory: &Memory,
) -> Option<Why> {
    let known = memory.replies.item(&thought.id).and_then(|found| found.result);
    match kind {
        // Several reasoning items in a row occur. The item after the last one decides.
        ItemKind::Reasoning => None,
        ItemKind::Reference if is_thought => None,
        ItemKind::Prompt => Some(Why::OtherItem),
        ItemKind::Output(tool) if tool.is_defined_by_client() => Some(Why::OtherItem),
        ItemKind::Said if id.is_none() => Some(Why::NoId),
        ItemKind::Call(tool) if id.is_none() && tool.is_defined_by_client() => Some(Why::NoId),
        _ if known.is_some() && id.is_some() && known != id => Some(Why::OtherItem),
        _ => None,
    }
}

fn of_item(n: usize, id: &str) -> Occurrence {
    Occurrence::at(format!("{}/id", at(n))).param("input".to_owned()).with("id", id)
}

pub(crate) static REASONING_WITHOUT_ITEM: Rule = Rule {
    summary: "Reasoning is followed by the item that it led to, with its own id.",
    why: "The reasoning was kept, but the message or call after it was dropped, or rebuilt without \
         its `id`. Keep both as they came, or drop both.",
    sentences: &["Item '{id}' of type 'reasoning' was provided without its required following item."],
    sources: &[
        "https://github.com/openai/openai-node/issues/1567",
        "https://github.com/vercel/ai/issues/7099",
        "https://github.com/openai/openai-agents-js/issues/326",
        "https://github.com/mastra-ai/mastra/issues/14048",
        "https://github.com/continuedev/continue/issues/8933",
        "https://github.com/openai/openai-agents-python/issues/1611",
    ],
    ..Rule::measured("openai-responses/reasoning-without-item", "RSP-RS-1", 4, "2025-06")
};

pub(crate) static ITEM_WITHOUT_REASONING: Rule = Rule {
    summary: "An item that reasoning led to is sent after that reasoning.",
    why: "The item was kept with its `id`, but the reasoning before it was dropped. Keep the \
         reasoning as well, or send the item without its `id`.",
    sentences: &[
        "Item '{id}' of type '{type}' was provided without its required 'reasoning' item: '{reasoning}'.",
    ],
    sources: &["https://github.com/continuedev/continue/pull/11785"],
    ..Rule::measured("openai-responses/item-without-reasoning", "RSP-RS-2", 4, "2025-06")
};
