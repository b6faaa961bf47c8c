//! OpenAI Responses: numbered events. Items are added and done, with their parts and texts in between. One
//! terminal event repeats the complete response.
//!
//! A client may request the rest of a stream after a number (`starting_after`). The rest begins with a
//! number above 0 and without `response.created`. Items that were added earlier are unknown, so events of
//! unknown items pass.
//!
//! [`super::stream_item`] checks the events inside an item.
//!
//! GitHub Copilot encrypts the ids of responses and items again in each event, and also the pieces of
//! arguments (<https://github.com/vercel/ai/pull/18548>,
//! <https://github.com/lidge-jun/opencodex/issues/995>). The rules that this breaks are errors only for
//! the provider itself. Its response ids begin with `resp_`.

use std::collections::{BTreeMap, BTreeSet};

use super::stream_item::StreamedItem;
use crate::json::Json;
use crate::streams::{
    BrokenRule, Common, Digest, Machine, Room, SSE, Standing, StreamEvent, StreamRule, Verdict, Warnings,
    error_in_words, illegal, quoted, stream_rules, text, underway,
};

const DOCS: &str = "https://platform.openai.com/docs/api-reference/responses-streaming";
const SDK: &str = "https://github.com/openai/openai-python/tree/main/src/openai/types/responses";
const READER: &str = "https://github.com/openai/openai-python/blob/main/src/openai/_streaming.py";
const RESUMED: &str = "https://platform.openai.com/docs/guides/background#streaming-a-background-response";

stream_rules! { "openai-responses";
    error UNREADABLE = "unreadable", "the data of each event is one JSON object in UTF-8", DOCS;
    error NAME = "name-is-type", "the name of an event is the type in its data", DOCS;
    warning NAMELESS = "name-missing", "each event has a name", DOCS;
    error SEQUENCE = "sequence", "the sequence numbers are 0, 1, 2 and so on", DOCS;
    warning UNNUMBERED = "sequence-missing", "each event has a sequence number", DOCS;
    error CREATED_FIRST = "created-first",
        "response.created comes before everything, if the stream begins with the number 0", RESUMED;
    error CREATED_REPEATED = "created-repeated", "response.created comes once", DOCS;
    warning NOT_IN_PROGRESS = "in-progress-missing", "response.in_progress comes before the first item", DOCS;
    error NO_INDEX = "item-without-index", "an item is added and done with its output_index", SDK;
    error ITEM_REPEATED = "item-repeated", "each output_index is added once", DOCS;
    warning ITEM_GAP = "item-index-gap", "the output indexes of the items are 0, 1, 2 and so on", DOCS;
    warning INTERLEAVED = "items-interleaved", "an item is added after the item before it is done", DOCS;
    error NOT_OPEN = "item-not-open", "events of an item come after it is added and before it is done", DOCS;
    error ITEM_CHANGED = "item-changed", "an item keeps its id and its type in all of its events", SDK;
    error ITEM_TYPE = "event-fits-item", "the type of an event fits the type of its item", SDK;
    error PART_REPEATED = "part-repeated", "each part of an item is added once", DOCS;
    error PART_NOT_OPEN = "part-not-open",
        "the text of a part comes after the part is added and before it is done", DOCS;
    error PART_STILL_OPEN = "part-still-open", "an item is done after its parts are done", DOCS;
    error AFTER_DONE = "delta-after-done", "no delta comes after the text or the arguments are done", DOCS;
    error DONE_DIFFERS = "done-differs", "a done event has the joined text of its deltas", DOCS;
    error ITEM_STILL_OPEN = "item-still-open",
        "response.completed comes after all items are done, except lists of tools", DOCS;
    error NO_RESPONSE = "response-missing", "response.created and the terminal event have the response", SDK;
    error RESPONSE_CHANGED = "response-changed", "a response keeps its id", DOCS;
    warning ERROR_SHAPE = "error-shape",
        "an error event has its code and message itself, and no error inside", SDK;
    warning SENTINEL = "done-sentinel", "there is no [DONE]", DOCS;
    error AFTER_END = "after-end",
        "nothing comes after the terminal event, but response.failed may follow an error event", READER;
    error TRUNCATED = "truncated",
        "a stream ends with response.completed, response.incomplete, response.failed or an error event", DOCS;
    warning UNENDED = "last-event-unended", "a blank line ends each event", SSE;
    warning STRAY = "stray-line", "each line is a field, a comment or blank", SSE;
}

pub(crate) static TOLERATED_OF_RELATIVES: &[&StreamRule] = &[&RESPONSE_CHANGED, &ITEM_CHANGED, &DONE_DIFFERS];

static COMMON: Common =
    Common { truncated: &TRUNCATED, unreadable: &UNREADABLE, unended: Some(&UNENDED), stray: Some(&STRAY) };

#[derive(Debug)]
pub(super) struct Responses {
    phase: Phase,
    next: u64,
    is_in_progress: bool,
    /// True if the stream is the rest of another one.
    is_resumed: bool,
    response: Option<Digest>,
    /// True if the response has an id that the dialect's own provider does not issue.
    is_foreign: bool,
    /// Items by output index. `None` for items that are done.
    items: BTreeMap<u64, Option<StreamedItem>>,
    /// Indexes of the items that are not done.
    open: BTreeSet<u64>,
    /// A shortened or open summary, which is legal only if the response ends incomplete.
    shortened: Option<BrokenRule>,
    room: Room,
}

#[derive(Debug)]
enum Phase {
    Before,
    Items,
    Ended,
    Failed(String),
}

impl Responses {
    pub(super) fn new() -> Responses {
        Responses {
            phase: Phase::Before,
            next: 0,
            is_in_progress: false,
            is_resumed: false,
            response: None,
            is_foreign: false,
            items: BTreeMap::new(),
            open: BTreeSet::new(),
            shortened: None,
            room: Room::new(),
        }
    }

    /// Checks an event's number. Compatible providers may omit the numbers, but numbers that are there
    /// must be consecutive.
    fn sequence(&mut self, data: Json, warnings: &mut Warnings) -> Verdict {
        match data.field("sequence_number").as_u64() {
            Some(number) if number == self.next => {}
            Some(number) => {
                let message = format!("the sequence number is {number}, expected {}", self.next);
                return illegal(&SEQUENCE, message);
            }
            None => warnings.add(&UNNUMBERED, "an event without a sequence number"),
        }
        self.next += 1;
        Ok(())
    }

    /// Recognizes the first event in the rest of a stream.
    fn resume(&mut self, kind: &str, data: Json) {
        let first = data.field("sequence_number").as_u64().filter(|first| *first > 0);
        if let (Phase::Before, Some(first)) = (&self.phase, first)
            && !matches!(kind, "response.created" | "error")
        {
            self.phase = Phase::Items;
            self.is_resumed = true;
            self.next = first;
        }
    }

    /// Returns whether there may be open items that the linter has not seen or had no room for.
    fn knows_not_all(&self) -> bool {
        self.is_resumed || self.room.is_full()
    }

    /// Compares the response inside an event with the one that was created.
    fn same_response(&mut self, kind: &str, response: Json, warnings: &mut Warnings) -> Verdict {
        let Some(id) = text(response.field("id")) else { return Ok(()) };
        if !id.starts_with("resp_") {
            self.is_foreign = true;
            warnings.is_of_foreign_stream();
        }
        if *self.response.get_or_insert(Digest::of(&id)) == Digest::of(&id) {
            return Ok(());
        }
        let message = format!("the response of {kind} is {}, and was different before", quoted(&id));
        warnings.refuse(&RESPONSE_CHANGED, message)
    }

    fn added(&mut self, data: Json, warnings: &mut Warnings) -> Verdict {
        let Some(index) = data.field("output_index").as_u64() else {
            return illegal(&NO_INDEX, "an item is added without an output_index");
        };
        if self.items.contains_key(&index) {
            return illegal(&ITEM_REPEATED, format!("item {index} is added a second time"));
        }
        if !self.is_in_progress && !self.is_resumed {
            warnings.add(&NOT_IN_PROGRESS, format!("item {index} is added before response.in_progress"));
        }
        if index != self.items.len() as u64 && !self.knows_not_all() {
            warnings.add(&ITEM_GAP, format!("item {index} is added, expected item {}", self.items.len()));
        }
        if let Some(open) = self.open.last() {
            warnings.add(&INTERLEAVED, format!("item {index} is added before item {open} is done"));
        }
        if self.room.track() {
            self.items.insert(index, Some(StreamedItem::new(data.field("item"))));
            self.open.insert(index);
        }
        Ok(())
    }

    fn done(&mut self, data: Json, warnings: &mut Warnings) -> Verdict {
        let Some(index) = data.field("output_index").as_u64() else {
            return illegal(&NO_INDEX, "an item is done without an output_index");
        };
        match self.items.get_mut(&index).map(Option::take) {
            Some(Some(item)) => {
                self.open.remove(&index);
                let is_reasoning = item.is_reasoning();
                let verdict = item.done(index, data.field("item"), warnings);
                self.put_off(is_reasoning, verdict)
            }
            Some(None) => illegal(&NOT_OPEN, format!("item {index} is done a second time")),
            None if self.knows_not_all() => Ok(()),
            None => illegal(&NOT_OPEN, format!("item {index} is done, but was not added")),
        }
    }

    /// Checks an event inside an item, if its type is known.
    fn inside(&mut self, kind: &str, data: Json, warnings: &mut Warnings) -> Verdict {
        let Some(family) = super::stream_item::family_of(kind) else { return Ok(()) };
        let Some(index) = data.field("output_index").as_u64() else { return Ok(()) };
        let knows_not_all = self.knows_not_all();
        match self.items.get_mut(&index) {
            Some(Some(item)) => {
                let is_reasoning = item.is_reasoning();
                let verdict = item.step(index, kind, family, data, &mut self.room, warnings);
                self.put_off(is_reasoning, verdict)
            }
            Some(None) => illegal(&NOT_OPEN, format!("{} for item {index}, which is done", quoted(kind))),
            None if knows_not_all => Ok(()),
            None => illegal(&NOT_OPEN, format!("{} for item {index}, which was not added", quoted(kind))),
        }
    }

    /// Keeps a violation about a summary until the end of the response. A reply that reaches its token limit
    /// while the model thinks ends with a summary that is cut, or with one that is never done.
    fn put_off(&mut self, is_reasoning: bool, verdict: Verdict) -> Verdict {
        match verdict {
            Err(broken) if is_reasoning && [&DONE_DIFFERS, &PART_STILL_OPEN].contains(&broken.rule) => {
                self.shortened.get_or_insert(broken);
                Ok(())
            }
            verdict => verdict,
        }
    }

    fn terminal(&mut self, kind: &str, response: Json, warnings: &mut Warnings) -> Verdict {
        if !response.is_object() {
            return illegal(&NO_RESPONSE, format!("{kind} without the response"));
        }
        self.same_response(kind, response, warnings)?;
        match self.shortened.take() {
            Some(broken) if kind == "response.completed" => return Err(broken),
            Some(_) if kind == "response.incomplete" => {}
            Some(BrokenRule { rule, message }) => warnings.add(rule, message),
            None => {}
        }
        if kind == "response.completed" {
            self.check_open(warnings)?;
        }
        let error = response.field("error");
        self.phase = match kind {
            "response.failed" => {
                Phase::Failed(error_in_words(text(error.field("code")), text(error.field("message"))))
            }
            _ => Phase::Ended,
        };
        Ok(())
    }

    /// Checks at the end that all items are done. OpenAI ends only the last of several lists of tools
    /// (<https://github.com/pydantic/pydantic-ai/issues/5419>).
    fn check_open(&self, warnings: &mut Warnings) -> Verdict {
        let is_tool_list =
            |index: &u64| matches!(self.items.get(index), Some(Some(item)) if item.is_tool_list());
        let message = |index: &u64| format!("response.completed while item {index} is not done");
        match self.open.iter().find(|index| !is_tool_list(index)) {
            Some(open) => return illegal(&ITEM_STILL_OPEN, message(open)),
            None => {
                self.open.first().into_iter().for_each(|list| warnings.add(&ITEM_STILL_OPEN, message(list)))
            }
        }
        Ok(())
    }

    fn fail(&mut self, data: Json, warnings: &mut Warnings) {
        let inner = data.field("error");
        if inner.is_object() {
            warnings.add(&ERROR_SHAPE, "an error event with an error inside");
        }
        let error = if inner.is_object() { inner } else { data };
        self.phase = Phase::Failed(error_in_words(text(error.field("code")), text(error.field("message"))));
    }

    /// Checks that an event of this type is allowed now.
    fn may_come(&self, kind: &str) -> Verdict {
        let shown = || quoted(kind);
        match (&self.phase, kind) {
            // https://github.com/openai/openai-java/pull/719.
            (Phase::Ended, "response.rate_limits.updated") => Ok(()),
            (Phase::Ended, _) => illegal(&AFTER_END, format!("{} after the terminal event", shown())),
            // One failure causes both events.
            (Phase::Failed(_), "response.failed" | "error") => Ok(()),
            (Phase::Failed(_), _) => illegal(&AFTER_END, format!("{} after an error", shown())),
            (Phase::Before, "response.created" | "error") => Ok(()),
            (Phase::Before, _) => illegal(&CREATED_FIRST, format!("{} before response.created", shown())),
            (Phase::Items, "response.created") => illegal(&CREATED_REPEATED, "a second response.created"),
            (Phase::Items, _) => Ok(()),
        }
    }
}

impl Machine for Responses {
    fn common(&self) -> &'static Common {
        &COMMON
    }

    fn step(&mut self, event: &StreamEvent<'_>, warnings: &mut Warnings) -> Verdict {
        if event.data.starts_with(b"[DONE]") {
            warnings.add(&SENTINEL, "[DONE] does not belong to this dialect; readers stop at it");
            return Ok(());
        }
        let document = event.object(&UNREADABLE)?;
        let data = document.root();
        let kind = &*data.field("type").as_str().unwrap_or_default();
        if kind != "error" && !kind.starts_with("response.") {
            // A `keepalive` is counted like the events of the response
            // (<https://github.com/openai/openai-node/issues/1964>).
            if data.field("sequence_number").as_u64() == Some(self.next) {
                self.next += 1;
            }
            return Ok(());
        }
        if event.name.is_empty() {
            warnings.add(&NAMELESS, format!("{} without a name", quoted(kind)));
        } else if event.name != kind {
            let message = format!("the event is named {}, its type is {}", quoted(event.name), quoted(kind));
            return illegal(&NAME, message);
        }
        self.resume(kind, data);
        self.may_come(kind)?;
        // An error may come from outside the response, with a number of its own.
        if kind == "error" {
            self.fail(data, warnings);
            return Ok(());
        }
        // The numbers after an error may not count it.
        if !matches!(self.phase, Phase::Failed(_)) {
            self.sequence(data, warnings)?;
        }
        let response = data.field("response");
        match kind {
            "response.created" if !response.is_object() => {
                illegal(&NO_RESPONSE, "response.created without the response")
            }
            "response.created" => {
                self.phase = Phase::Items;
                self.same_response(kind, response, warnings)
            }
            "response.in_progress" => {
                self.is_in_progress = true;
                self.same_response(kind, response, warnings)
            }
            "response.output_item.added" => self.added(data, warnings),
            "response.output_item.done" => self.done(data, warnings),
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
                self.terminal(kind, response, warnings)
            }
            _ => self.inside(kind, data, warnings),
        }
    }

    fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    fn standing(&self) -> Standing {
        match &self.phase {
            Phase::Before => underway("response.created"),
            Phase::Items => underway(match self.open.first() {
                Some(index) => format!("the end of item {index}"),
                None => "response.completed".to_owned(),
            }),
            Phase::Ended => Standing::Complete,
            Phase::Failed(words) => Standing::Failed(words.clone()),
        }
    }
}
