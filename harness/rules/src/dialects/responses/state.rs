//! The second phase: the items together with everything before them.
//!
//! The field that names an earlier response may come after the items. So the few facts about calls,
//! outputs and ids are kept until the end.

use std::borrow::Cow;

use super::pairing::{Demand, ItemPosition, OutputPairing};
use super::reasoning::Reasoning;
use super::switches::ResponsesSwitches;
use super::{Item, ItemKind, ToolKind, at};
use crate::json::{Document, Json};
use crate::{Delivery, Ids, MAX_VIOLATIONS, Memory, Occurrence, Rule, Violations};

/// The facts about a request while its items are read.
#[derive(Debug)]
pub(super) struct State<'a> {
    switches: &'static ResponsesSwitches,
    memory: &'a Memory,
    /// The item ids; `places` contains the index of each.
    ids: Ids<'a>,
    places: Vec<usize>,
    /// Items sent only as an id.
    references: Vec<(usize, Cow<'a, str>)>,
    /// Replies with an id that came before.
    repeated_replies: Vec<(usize, Cow<'a, str>)>,
    reasoning: Reasoning<'a>,
    facts: Vec<Fact<'a>>,
    /// True after a compaction item, which stands for earlier items that are not known.
    is_compacted: bool,
}

/// A fact for the pairing of calls and outputs.
#[derive(Debug)]
enum Fact<'a> {
    Call { n: usize, id: Cow<'a, str>, demand: Demand },
    Output { n: usize, id: Cow<'a, str>, tool: ToolKind },
    Message,
}

impl<'a> State<'a> {
    pub(super) fn new(switches: &'static ResponsesSwitches, memory: &'a Memory) -> State<'a> {
        State {
            switches,
            memory,
            ids: Ids::default(),
            places: Vec::new(),
            references: Vec::new(),
            repeated_replies: Vec::new(),
            reasoning: Reasoning::default(),
            facts: Vec::new(),
            is_compacted: false,
        }
    }

    pub(super) fn item(&mut self, item: Item<'_, 'a>, out: &mut Violations) {
        if !item.json.is_object() {
            return;
        }
        let (n, kind) = (item.n, item.kind);
        self.reasoning.item(item, self.memory);
        if let Some(id) = item.id().filter(|id| !id.is_empty()) {
            match self.ids.insert(id.clone()) {
                Ok(_) => self.places.push(n),
                Err(_) if kind == ItemKind::Said => {
                    if self.repeated_replies.len() < MAX_VIOLATIONS {
                        self.repeated_replies.push((n, id.clone()));
                    }
                }
                Err(_) => duplicate(n, &id, out),
            }
            if kind == ItemKind::Reference {
                self.references.push((n, id));
            }
        }
        match kind {
            ItemKind::Compaction => self.compacted(),
            ItemKind::Reference => self.referred(item),
            _ => self.facts.extend(fact(self.switches, item)),
        }
    }

    /// The provider reads the compaction in place of the items before it, so their calls need no outputs, and
    /// later outputs may belong to a call in it.
    fn compacted(&mut self) {
        self.is_compacted = true;
        self.facts.retain(|fact| !matches!(fact, Fact::Call { .. }));
    }

    /// Treats an item that the provider has stored as if it were sent.
    fn referred(&mut self, reference: Item<'_, 'a>) {
        let Some(id) = reference.id() else { return };
        let Some(found) = self.memory.replies.item(&id) else { return };
        let Ok(document) = Document::parse(found.text.as_bytes()) else { return };
        self.facts.extend(fact(self.switches, Item::of(reference.n, document.root())));
    }

    /// Takes the fields around the items, after the last item.
    pub(super) fn finish(&mut self, body: Json<'_, 'a>, out: &mut Violations) {
        let is_stored = body.field("store").as_bool() != Some(false);
        for (n, id) in self.repeated_replies.drain(..) {
            let violation = || repeated(n, &id);
            // Libraries give the replies of other models one made-up id, such as `msg_missing_id`. Recorded replies
            // show that it is accepted if nothing is stored.
            if is_stored { out.add(&ITEM_DUPLICATE, violation) } else { out.warn(&ITEM_DUPLICATE, violation) }
        }
        let mut pairing = OutputPairing::default();
        let knows_all = self.go_on(body, &mut pairing, out);
        let knows_references = self.check_references(is_stored, out);
        self.reasoning.finish(is_stored, &self.ids, out);
        for fact in self.facts.drain(..) {
            match fact {
                Fact::Call { n, id, demand } => pairing.call(ItemPosition::Item(n), id, demand),
                Fact::Output { n, id, tool } => pairing.output(n, id, tool, out),
                Fact::Message => pairing.message(),
            }
        }
        pairing.finish(knows_all && knows_references && !self.is_compacted, out);
    }

    /// Takes the items before the request. Returns whether all of them are known.
    fn go_on(&mut self, body: Json<'_, 'a>, pairing: &mut OutputPairing<'a>, out: &mut Violations) -> bool {
        let Some(id) = body.field("previous_response_id").as_str() else {
            return body.field("conversation").is_null();
        };
        let Some(chain) = self.memory.replies.up_to(&id) else {
            if self.memory.is_whole() {
                out.add(&PREVIOUS_RESPONSE_NOT_FOUND, || {
                    let violation =
                        Occurrence::at("/previous_response_id").param("previous_response_id".to_owned());
                    violation.code("previous_response_not_found").with("id", &id)
                });
            }
            return false;
        };
        for earlier in chain {
            let Ok(document) = Document::parse(earlier.items.as_bytes()) else { continue };
            for item in document.root().items() {
                self.earlier(item, earlier.delivery, pairing, out);
            }
        }
        true
    }

    fn earlier(
        &mut self,
        item: Json<'_, 'a>,
        delivery: Delivery,
        pairing: &mut OutputPairing<'a>,
        out: &mut Violations,
    ) {
        let item = Item::of(0, item);
        if let Some(id) = item.id()
            && item.kind != ItemKind::Reference
        {
            if let Some(place) = self.ids.find(&id) {
                duplicate(self.places[place], &id, out);
            }
            self.reasoning.said_before(id);
        }
        match fact(self.switches, item) {
            Some(Fact::Call { id, demand, .. }) => {
                let is_heard = delivery == Delivery::Whole || demand == Demand::Later;
                pairing.call(ItemPosition::Before, id, if is_heard { demand } else { Demand::Nothing });
            }
            Some(Fact::Output { id, .. }) => pairing.output_before(&id),
            Some(Fact::Message) => pairing.message(),
            None => {}
        }
    }

    /// Returns whether all referenced items are known.
    fn check_references(&self, is_stored: bool, out: &mut Violations) -> bool {
        let mut knows_all = true;
        for (n, id) in &self.references {
            if self.memory.replies.item(id).is_some() || self.memory.replies.was_sent(id) {
                continue;
            }
            knows_all = false;
            if self.memory.is_whole() || !is_stored {
                let form = usize::from(is_stored);
                out.add(&ITEM_NOT_FOUND, || {
                    Occurrence::at(format!("{}/id", at(*n)))
                        .form(form)
                        .param("input".to_owned())
                        .with("id", id)
                });
            }
        }
        knows_all
    }
}

/// Returns the fact that an item adds to the pairing of calls and outputs.
fn fact<'a>(switches: &ResponsesSwitches, item: Item<'_, 'a>) -> Option<Fact<'a>> {
    let (n, id) = (item.n, || item.pairing_id());
    match item.kind {
        ItemKind::Prompt | ItemKind::Said => Some(Fact::Message),
        ItemKind::Call(_) if switches.has_async_calls && item.is_async() => {
            Some(Fact::Call { n, id: id()?, demand: Demand::Later })
        }
        ItemKind::Call(tool) => Some(Fact::Call { n, id: id()?, demand: Demand::Output(tool) }),
        ItemKind::Output(tool) => Some(Fact::Output { n, id: id()?, tool }),
        // A call of an unknown type may have a `function_call_output`, but need not.
        ItemKind::Other => match item.json.field("type").as_str()?.ends_with("_output") {
            true => None,
            false => Some(Fact::Call { n, id: id()?, demand: Demand::Nothing }),
        },
        ItemKind::Reasoning | ItemKind::Reference | ItemKind::Compaction => None,
    }
}

fn duplicate(n: usize, id: &str, out: &mut Violations) {
    out.add(&ITEM_DUPLICATE, || repeated(n, id));
}

fn repeated(n: usize, id: &str) -> Occurrence {
    Occurrence::at(format!("{}/id", at(n))).param("input".to_owned()).with("id", id)
}

pub(crate) static PREVIOUS_RESPONSE_NOT_FOUND: Rule = Rule {
    summary: "The earlier response that a request continues from is stored by the provider.",
    why: "The response was made with `store: false`, by another account, or never completed. Send \
         the whole conversation as `input` instead.",
    sentences: &["Previous response with id '{id}' not found."],
    sources: &["https://github.com/maximhq/bifrost/issues/2441", "https://github.com/LionSR/TeXRA/pull/2044"],
    ..Rule::observed("openai-responses/previous-response-not-found", "RSP-PREV-1", 2, "2025-03")
};

pub(crate) static ITEM_NOT_FOUND: Rule = Rule {
    summary: "An item that is only referenced is stored by the provider.",
    why: "With `store: false` the provider keeps nothing, so an `item_reference`, or reasoning \
         without its `encrypted_content`, cannot be resolved. Send the complete items, and ask for \
         `reasoning.encrypted_content`.",
    sentences: &[
        "Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again with `store` \
         set to true, or remove this item from your input.",
        "Item with id '{id}' not found.",
    ],
    // Seen with status 404, and with 400 through proxies.
    status: 404,
    sources: &[
        "https://github.com/vercel/ai/issues/7543",
        "https://github.com/openai/openai-agents-js/issues/546",
        "https://github.com/router-for-me/CLIProxyAPI/issues/2381",
    ],
    ..Rule::measured("openai-responses/item-not-found", "RSP-ITEM-1", 3, "2025-07")
};

pub(crate) static ITEM_DUPLICATE: Rule = Rule {
    summary: "No item is sent twice.",
    why: "The same item is in the input twice, or again after the response that it came from; or a gateway gave two \
         items one made-up id (`fc_2`). Send an item once, and after `previous_response_id` only what is new. Two items with \
         different contents both stay: give them ids of their own, or leave the ids out.",
    sentences: &["Duplicate item found with id {id}. Remove duplicate items from your input and try again."],
    sources: &[
        "https://github.com/earendil-works/pi/issues/5148",
        "https://github.com/github/copilot-cli/issues/3560",
        "https://github.com/anomalyco/opencode/issues/32748",
    ],
    ..Rule::measured("openai-responses/item-duplicate", "RSP-DUP-1", 3, "2025-06")
};
