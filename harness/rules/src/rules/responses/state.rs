//! The second phase: what the items stand for, together with all that was said before.
//!
//! What a request goes on from may be named after its items, so the few facts that calls, outputs and ids are judged
//! by wait for the end.

use std::borrow::Cow;

use super::super::Memory;
use super::super::ids::Ids;
use super::super::memory::Told;
use super::super::violation::{Breach, Breaches};
use super::pairing::{Pairing, Place};
use super::reasoning::Reasoning;
use super::table::*;
use super::{Item, Kind, Tool, at};
use crate::json::{Document, Json};

/// What is known of a request whose items are being read.
#[derive(Debug)]
pub(super) struct State<'a> {
    memory: &'a Memory,
    /// The ids of the items, and where each stands.
    ids: Ids<'a>,
    places: Vec<usize>,
    /// Items of which only the id is sent.
    references: Vec<(usize, Cow<'a, str>)>,
    reasoning: Reasoning<'a>,
    facts: Vec<Fact<'a>>,
}

/// What calls and outputs are paired by.
#[derive(Debug)]
enum Fact<'a> {
    Call { n: usize, id: Cow<'a, str>, tool: Option<Tool> },
    Output { n: usize, id: Cow<'a, str>, tool: Tool },
    Message,
}

impl<'a> State<'a> {
    pub(super) fn new(memory: &'a Memory) -> State<'a> {
        State {
            memory,
            ids: Ids::default(),
            places: Vec::new(),
            references: Vec::new(),
            reasoning: Reasoning::default(),
            facts: Vec::new(),
        }
    }

    /// Takes the next item.
    pub(super) fn item(&mut self, item: Item<'_, 'a>, out: &mut Breaches) {
        if !item.json.is_object() {
            return;
        }
        let (n, kind) = (item.n, item.kind);
        self.reasoning.item(item, self.memory);
        if let Some(id) = item.id().filter(|id| !id.is_empty()) {
            match self.ids.insert(id.clone()) {
                Ok(_) => self.places.push(n),
                Err(_) => duplicate(n, &id, out),
            }
            if kind == Kind::Reference {
                self.references.push((n, id));
            }
        }
        match kind {
            Kind::Reference => self.referred(item),
            _ => self.facts.extend(fact(item)),
        }
    }

    /// An item that the provider has is as good as sent.
    fn referred(&mut self, reference: Item<'_, 'a>) {
        let Some(id) = reference.id() else { return };
        let Some(found) = self.memory.replies.item(&id) else { return };
        let Ok(document) = Document::parse(found.text.as_bytes()) else { return };
        self.facts.extend(fact(Item::of(reference.n, document.root())));
    }

    /// Takes the fields around the items, after the last one.
    pub(super) fn finish(&mut self, body: Json<'_, 'a>, out: &mut Breaches) {
        let is_stored = body.field("store").as_bool() != Some(false);
        let mut pairing = Pairing::default();
        let knows_all = self.go_on(body, &mut pairing, out);
        let knows_references = self.check_references(is_stored, out);
        self.reasoning.finish(is_stored, &self.ids, out);
        for fact in self.facts.drain(..) {
            match fact {
                Fact::Call { n, id, tool } => pairing.call(Place::Item(n), id, tool),
                Fact::Output { n, id, tool } => pairing.output(n, id, tool, out),
                Fact::Message => pairing.message(),
            }
        }
        pairing.finish(knows_all && knows_references, out);
    }

    /// Takes what was said before the request. Gives whether all of it is known.
    fn go_on(&mut self, body: Json<'_, 'a>, pairing: &mut Pairing<'a>, out: &mut Breaches) -> bool {
        let Some(id) = body.field("previous_response_id").as_str() else {
            return body.field("conversation").is_null();
        };
        let Some(chain) = self.memory.replies.up_to(&id) else {
            if self.memory.is_whole() {
                out.add(&PREVIOUS_RESPONSE_NOT_FOUND, || {
                    let breach = Breach::at("/previous_response_id").param("previous_response_id".to_owned());
                    breach.code("previous_response_not_found").with("id", &id)
                });
            }
            return false;
        };
        for earlier in chain {
            let Ok(document) = Document::parse(earlier.items.as_bytes()) else { continue };
            for item in document.root().items() {
                self.earlier(item, earlier.told, pairing, out);
            }
        }
        true
    }

    fn earlier(&mut self, item: Json<'_, 'a>, told: Told, pairing: &mut Pairing<'a>, out: &mut Breaches) {
        let item = Item::of(0, item);
        if let Some(id) = item.id()
            && item.kind != Kind::Reference
        {
            if let Some(place) = self.ids.find(&id) {
                duplicate(self.places[place], &id, out);
            }
            self.reasoning.said_before(id);
        }
        match fact(item) {
            Some(Fact::Call { id, tool, .. }) => {
                pairing.call(Place::Before, id, tool.filter(|_| told == Told::Whole));
            }
            Some(Fact::Output { id, .. }) => pairing.output_before(&id),
            Some(Fact::Message) => pairing.message(),
            None => {}
        }
    }

    /// Gives whether all that is only named is known.
    fn check_references(&self, is_stored: bool, out: &mut Breaches) -> bool {
        let mut knows_all = true;
        for (n, id) in &self.references {
            if self.memory.replies.item(id).is_some() || self.memory.replies.was_sent(id) {
                continue;
            }
            knows_all = false;
            if self.memory.is_whole() || !is_stored {
                let form = usize::from(is_stored);
                out.add(&ITEM_NOT_FOUND, || {
                    Breach::at(format!("{}/id", at(*n))).form(form).param("input".to_owned()).with("id", id)
                });
            }
        }
        knows_all
    }
}

/// What an item adds to the pairing of calls and outputs.
fn fact<'a>(item: Item<'_, 'a>) -> Option<Fact<'a>> {
    let (n, id) = (item.n, || item.call_id.and_then(Json::as_str));
    match item.kind {
        Kind::Prompt | Kind::Said => Some(Fact::Message),
        Kind::Call(tool) => Some(Fact::Call { n, id: id()?, tool: Some(tool) }),
        Kind::Output(tool) => Some(Fact::Output { n, id: id()?, tool }),
        // Other calls may be answered by a `function_call_output` too, and need not be.
        Kind::Other => match item.json.field("type").as_str()?.ends_with("_output") {
            true => None,
            false => Some(Fact::Call { n, id: id()?, tool: None }),
        },
        Kind::Reasoning | Kind::Reference => None,
    }
}

fn duplicate(n: usize, id: &str, out: &mut Breaches) {
    out.add(&ITEM_DUPLICATE, || Breach::at(format!("{}/id", at(n))).param("input".to_owned()).with("id", id));
}
