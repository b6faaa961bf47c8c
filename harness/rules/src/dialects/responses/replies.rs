//! Stored replies of the Responses API: the content behind the ids of earlier responses and items.

use hashbrown::{HashMap, HashSet};
use std::borrow::Cow;

use serde_json::Value;

use crate::json::{Document, Json};
use crate::{Delivery, ExpandedRequest};

/// Replies that the provider stored, oldest first.
#[derive(Debug, Clone, Default)]
pub struct Replies {
    replies: Vec<StoredReply>,
    /// The position of each item: its reply, and its index in that reply.
    items: HashMap<String, (usize, usize)>,
    /// Ids of items that clients sent.
    sent: HashSet<String>,
    n_bytes: usize,
    overflowed: bool,
}

/// Maximum number of bytes to keep from requests and replies. The longest plan takes a few kB; the
/// limit protects memory against a flood of large requests.
const MAX_BYTES: usize = 32 << 20;

#[derive(Debug, Clone)]
struct StoredReply {
    id: String,
    previous: Option<String>,
    delivery: Delivery,
    /// The items of the request, as a JSON array.
    input: String,
    /// The items of the reply, as a JSON array.
    output: String,
    items: Vec<StoredItem>,
}

#[derive(Debug, Clone)]
struct StoredItem {
    id: String,
    /// The id of the reasoning that led to it.
    reasoning: Option<String>,
    /// The id of its result, if it is reasoning.
    result: Option<String>,
    text: String,
}

#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    /// The id of the reasoning that must be sent with it.
    pub(crate) reasoning: Option<&'a str>,
    /// The id of the item that must follow it, if it is reasoning.
    pub(crate) result: Option<&'a str>,
    pub(crate) text: &'a str,
}

/// Items of an earlier request or reply, as a JSON array.
#[derive(Debug, Clone, Copy)]
pub struct Earlier<'a> {
    pub(crate) items: &'a str,
    /// The part of its reply that was sent. Items that a client sent are always complete.
    pub(crate) delivery: Delivery,
}

impl Replies {
    pub(crate) fn is_empty(&self) -> bool {
        self.replies.is_empty()
    }

    /// Returns whether more was stored than is kept.
    pub(crate) fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Adds a reply and its request.
    pub(crate) fn add(&mut self, request: Json, reply: &Value, delivery: Delivery) {
        let Some(id) = reply["id"].as_str() else { return };
        let input = match request.field("input") {
            input if input.is_array() => input.raw().to_owned(),
            input if input.is_str() => format!(r#"[{{"role":"user","content":{}}}]"#, input.raw()),
            _ => "[]".to_owned(),
        };
        let output = reply["output"].to_string();
        self.n_bytes += input.len() + 2 * output.len();
        if self.n_bytes > MAX_BYTES {
            self.overflowed = true;
            return;
        }
        let sent = request.field("input").items();
        self.sent.extend(sent.filter_map(|item| item.field("id").as_str().map(Cow::into_owned)));
        let items = items_of(&reply["output"]);
        let at = self.replies.len();
        self.items.extend(items.iter().enumerate().map(|(k, item)| (item.id.clone(), (at, k))));
        let previous = request.field("previous_response_id").as_str().map(Cow::into_owned);
        self.replies.push(StoredReply { id: id.to_owned(), previous, delivery, input, output, items });
    }

    /// Returns all items up to the end of a response, oldest first, alternating between requests and
    /// replies. `None` if the response is unknown.
    pub(crate) fn up_to(&self, id: &str) -> Option<Vec<Earlier<'_>>> {
        let mut chain = Vec::new();
        let mut end = self.replies.len();
        let mut next = Some(id);
        while let Some(id) = next {
            // A reply can only continue an earlier one, so this loop ends.
            let at = self.replies[..end].iter().rposition(|reply| reply.id == id)?;
            let reply = &self.replies[at];
            chain.push(Earlier { items: &reply.output, delivery: reply.delivery });
            chain.push(Earlier { items: &reply.input, delivery: Delivery::Whole });
            end = at;
            next = reply.previous.as_deref();
        }
        chain.reverse();
        Some(chain)
    }

    pub(crate) fn item(&self, id: &str) -> Option<Found<'_>> {
        let (reply, place) = *self.items.get(id)?;
        let StoredItem { reasoning, result, text, .. } = &self.replies[reply].items[place];
        Some(Found { reasoning: reasoning.as_deref(), result: result.as_deref(), text })
    }

    /// Returns whether a client has ever sent an item with this id.
    pub(crate) fn was_sent(&self, id: &str) -> bool {
        self.sent.contains(id)
    }

    /// Returns the request with its references replaced by the complete items.
    pub(crate) fn expand(&self, request: Json) -> Option<ExpandedRequest> {
        let previous = request.field("previous_response_id").as_str();
        let own = request.field("input");
        let is_reference = |item: Json| item.field("type").is("item_reference");
        if previous.is_none() && !own.items().any(is_reference) {
            return None;
        }
        let mut items = Vec::new();
        for earlier in previous.map_or(Some(Vec::new()), |id| self.up_to(&id))? {
            let document = Document::parse(earlier.items.as_bytes()).ok()?;
            items.extend(document.root().items().map(Json::to_value));
        }
        let n_before = items.len();
        if own.is_str() {
            items.push(serde_json::json!({ "role": "user", "content": own.to_value() }));
        }
        for item in own.items() {
            let id = item.field("id").as_str().filter(|_| is_reference(item));
            let named = id.and_then(|id| self.item(&id));
            let named = named.and_then(|found| serde_json::from_str(found.text).ok());
            items.push(named.unwrap_or_else(|| item.to_value()));
        }
        let mut body = request.to_value();
        body["input"] = Value::Array(items);
        Some(ExpandedRequest { body, list: "input", named_by: "previous_response_id", n_before })
    }
}

fn items_of(output: &Value) -> Vec<StoredItem> {
    let output = output.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut items: Vec<StoredItem> = Vec::new();
    let mut reasoning: Option<usize> = None;
    for item in output {
        let Some(id) = item["id"].as_str() else { continue };
        let of = reasoning.take();
        if let Some(of) = of {
            items[of].result = Some(id.to_owned());
        }
        if item["type"] == "reasoning" {
            reasoning = Some(items.len());
        }
        items.push(StoredItem {
            id: id.to_owned(),
            reasoning: of.map(|of| items[of].id.clone()),
            result: None,
            text: item.to_string(),
        });
    }
    items
}
