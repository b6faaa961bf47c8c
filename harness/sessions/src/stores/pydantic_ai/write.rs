//! Edits to a history, made in its bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use brickbat_rules::json::{Document, Json};
use serde_json::{Map, Value, json};

use crate::EditError::{self, Missing, NoForm, Unreadable};
use crate::stores::list::Changes;
use crate::stores::{Edit, WriteError};
use crate::{Files, NOT_RECORDED, Place, Product, Session};

/// The files after the edits. The message list is at the pointer `base`.
pub(in crate::stores) fn write(
    files: &Files,
    session: &Session,
    base: &str,
    edits: &[Edit],
) -> Result<Files, WriteError> {
    let product = session.product;
    let document = Document::parse(files.main())
        .map_err(|_| error(product, &Place::default(), Unreadable("the file is no longer JSON")))?;
    let list = document.root().pointer(base);
    let mut plan = Plan::new(session, base, list);
    for edit in edits {
        plan.add(edit, session)?;
    }
    let mut files = files.clone();
    let bytes = crate::json::splice(files.main(), plan.edits());
    if let Some(first) = files.files.first_mut() {
        first.bytes = bytes;
    }
    Ok(files)
}

/// The changes to the message list.
struct Plan<'p, 't, 'a> {
    product: Product,
    base: &'p str,
    list: Json<'t, 'a>,
    /// The places of the session's blocks.
    places: BTreeSet<&'p Place>,
    entries: Vec<Entry<'t, 'a>>,
    messages: Changes,
    /// The changes to each message's parts.
    parts: BTreeMap<usize, Changes>,
    /// The changes to lists of user texts and files. Such a list is the content of a part.
    contents: BTreeMap<(usize, usize), Changes>,
    /// The parts of a new request after a response.
    requests: BTreeMap<usize, Vec<String>>,
}

/// A message of the list, with values that are needed often.
struct Entry<'t, 'a> {
    value: Json<'t, 'a>,
    parts: Vec<Json<'t, 'a>>,
    /// The number of results at its start.
    n_results: usize,
}

/// The address of a block: its message, its part, and its item in the part's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Address {
    message: usize,
    part: usize,
    item: Option<usize>,
}

impl<'p, 't, 'a> Plan<'p, 't, 'a> {
    fn new(session: &'p Session, base: &'p str, list: Json<'t, 'a>) -> Plan<'p, 't, 'a> {
        let entry = |value: Json<'t, 'a>| {
            let parts: Vec<Json<'t, 'a>> = value.field("parts").items().collect();
            let n_results = parts.iter().take_while(|part| is_result(**part)).count();
            Entry { value, parts, n_results }
        };
        let blocks = session.messages.iter().flat_map(|message| &message.blocks);
        Plan {
            product: session.product,
            base,
            list,
            places: blocks.map(|block| &block.place).collect(),
            entries: list.items().map(entry).collect(),
            messages: Changes::default(),
            parts: BTreeMap::new(),
            contents: BTreeMap::new(),
            requests: BTreeMap::new(),
        }
    }

    fn add(&mut self, edit: &Edit, session: &Session) -> Result<(), WriteError> {
        match edit {
            Edit::Synthesise { call, .. } => {
                let at = self.address(call)?;
                let text = self.not_recorded(at).to_string();
                self.answer(at.message, text);
            }
            Edit::Move { result, call, .. } => {
                let call = self.address(call)?;
                let from = self.address(result)?;
                let text = self.part(from).raw().to_owned();
                self.drop(from);
                self.answer(call.message, text);
            }
            Edit::Drop { block } => {
                let at = self.address(block)?;
                self.drop(at);
            }
            Edit::Discard { place } => {
                return Err(error(self.product, place, NoForm("a list has no stretch to remove")));
            }
            Edit::Truncate { last } => self.truncate(last, session)?,
        }
        Ok(())
    }

    fn edits(mut self) -> Vec<(Range<usize>, Vec<u8>)> {
        let mut edits = Vec::new();
        for ((message, part), changes) in std::mem::take(&mut self.contents) {
            let content = self.part(Address { message, part, item: None }).field("content");
            if changes.leave_nothing(content.len()) {
                self.parts.entry(message).or_default().gone.insert(part);
            } else if !self.is_gone(message, part) {
                edits.extend(changes.edits(content));
            }
        }
        for (message, changes) in std::mem::take(&mut self.parts) {
            let parts = self.entry(message).field("parts");
            if changes.leave_nothing(self.n_parts(message)) {
                self.messages.gone.insert(message);
            } else if !self.messages.gone.contains(&message) {
                edits.extend(changes.edits(parts));
            }
        }
        for (response, parts) in std::mem::take(&mut self.requests) {
            let text = self.request(response, &parts);
            self.messages.come.entry(Some(response)).or_default().push(text);
        }
        edits.extend(self.messages.edits(self.list));
        edits
    }

    /// Returns whether a part is removed, alone or with its message.
    fn is_gone(&self, message: usize, part: usize) -> bool {
        self.messages.gone.contains(&message)
            || self.parts.get(&message).is_some_and(|changes| changes.gone.contains(&part))
    }

    /// Inserts a result directly after a response: into the next request, after the results at its start, or
    /// into a new request.
    fn answer(&mut self, response: usize, text: String) {
        let next = (response + 1..self.entries.len()).find(|n| self.entry(*n).get("thought").is_none());
        match next.filter(|next| self.entry(*next).field("kind").is("request")) {
            Some(next) => {
                let n_results = self.entries.get(next).map_or(0, |entry| entry.n_results);
                let changes = self.parts.entry(next).or_default();
                changes.come.entry(n_results.checked_sub(1)).or_default().push(text);
            }
            None => self.requests.entry(response).or_default().push(text),
        }
    }

    fn drop(&mut self, at: Address) {
        match at.item {
            Some(item) => {
                self.contents.entry((at.message, at.part)).or_default().gone.insert(item);
            }
            None => {
                self.parts.entry(at.message).or_default().gone.insert(at.part);
            }
        }
    }

    /// Removes everything after the message of a block. One request can contain several messages.
    fn truncate(&mut self, last: &Place, session: &Session) -> Result<(), WriteError> {
        let holds = |message: &&crate::Message| message.blocks.iter().any(|block| block.place == *last);
        let message = session.messages.iter().find(holds);
        let message =
            message.ok_or_else(|| error(self.product, last, Missing("no block of the branch is there")))?;
        let mut end = self.address(last)?;
        for block in &message.blocks {
            end = end.max(self.address(&block.place)?);
        }
        let later = end.part + 1..self.n_parts(end.message);
        if !later.is_empty() {
            self.parts.entry(end.message).or_default().gone.extend(later);
        }
        self.messages.gone.extend(end.message + 1..self.entries.len());
        Ok(())
    }

    /// The result of a call for which none was recorded. `outcome` marks an error in later versions of 1.x
    /// and in 2.x. Earlier versions ignore it.
    fn not_recorded(&self, at: Address) -> Value {
        let call = self.part(at);
        let mut part = Map::new();
        for key in ["tool_name", "tool_call_id"] {
            part.insert(key.to_owned(), call.field(key).to_value());
        }
        part.insert("content".to_owned(), json!(NOT_RECORDED));
        part.insert("outcome".to_owned(), json!("failed"));
        part.insert("part_kind".to_owned(), json!("tool-return"));
        self.stamp(at.message, &mut part);
        Value::Object(part)
    }

    /// The text of a request with these parts.
    fn request(&self, response: usize, parts: &[String]) -> String {
        let mut around = Map::new();
        around.insert("kind".to_owned(), json!("request"));
        self.stamp(response, &mut around);
        let around = Value::Object(around).to_string();
        // The parts are already JSON texts, some of them copied from the file.
        format!("{},\"parts\":[{}]}}", around.trim_end_matches('}'), parts.join(","))
    }

    /// Gives a synthesised value the time of the response, so that two runs produce the same bytes.
    fn stamp(&self, response: usize, object: &mut Map<String, Value>) {
        let time = self.entry(response).field("timestamp");
        if time.is_str() {
            object.insert("timestamp".to_owned(), time.to_value());
        }
    }

    fn address(&self, place: &Place) -> Result<Address, WriteError> {
        let found = self.places.contains(place).then(|| self.find(place)).flatten();
        found.ok_or_else(|| error(self.product, place, Missing("no part of a message is there")))
    }

    fn find(&self, place: &Place) -> Option<Address> {
        let mut steps = place.pointer.strip_prefix(self.base)?.strip_prefix('/')?.split('/');
        let message = steps.next()?.parse().ok()?;
        let part = steps.next().filter(|step| *step == "parts").and(steps.next())?.parse().ok()?;
        let item = match steps.next() {
            Some("content") => Some(steps.next()?.parse().ok()?),
            _ => None,
        };
        Some(Address { message, part, item })
    }

    fn entry(&self, message: usize) -> Json<'t, 'a> {
        self.entries.get(message).map_or(self.nothing(), |entry| entry.value)
    }

    fn part(&self, at: Address) -> Json<'t, 'a> {
        let entry = self.entries.get(at.message);
        entry.and_then(|entry| entry.parts.get(at.part)).copied().unwrap_or(self.nothing())
    }

    fn n_parts(&self, message: usize) -> usize {
        self.entries.get(message).map_or(0, |entry| entry.parts.len())
    }

    /// A missing value.
    fn nothing(&self) -> Json<'t, 'a> {
        self.list.field("parts")
    }
}

fn is_result(part: Json<'_, '_>) -> bool {
    let kind = part.field("part_kind");
    kind.is("tool-return") || (kind.is("retry-prompt") && !part.field("tool_name").is_null())
}

fn error(product: Product, place: &Place, cause: EditError) -> WriteError {
    cause.at(product, place)
}
