//! Converts events into messages, as the client applies them.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::histories::{Block as Content, Call, CallResult, Role};
use brickbat_rules::json::Json;
use serde_json::Value;

use crate::json::{text, word};
use crate::stores::ag_ui_messages::{read_message, result};
use crate::stores::list_reader::{block, message, note, place_of};
use crate::{Block, FormError, Message, Place};

/// The messages built from the events.
#[derive(Default)]
pub(super) struct Folded {
    pub(super) thread: Option<String>,
    pub(super) messages: Vec<Message>,
    pub(super) unknown: Vec<String>,
    /// The events for each block that is not in a snapshot, by the pointer in the block's place.
    pub(super) events: BTreeMap<String, Vec<usize>>,
    /// The calls with an end event.
    pub(super) ended: BTreeSet<String>,
}

/// Folds a list of events.
///
/// # Errors
///
/// Describes a message of a snapshot with an unknown form.
pub(super) fn fold(events: Json<'_, '_>) -> Result<Folded, FormError> {
    let mut fold = Fold::default();
    for (n, event) in events.items().enumerate() {
        fold.event(n, event)?;
    }
    let mut folded = fold.folded;
    for id in fold.order {
        let Some(entry) = fold.entries.remove(&id) else { continue };
        folded.messages.push(entry.message);
        if let Some(results) = fold.results.remove(&id) {
            folded.messages.extend(results);
        }
    }
    Ok(folded)
}

#[derive(Default)]
struct Fold {
    folded: Folded,
    /// The ids of the messages, in order.
    order: Vec<String>,
    entries: BTreeMap<String, Entry>,
    /// The message id and the block index of each call.
    calls: BTreeMap<String, (String, usize)>,
    /// The results to insert after the message with their call.
    results: BTreeMap<String, Vec<Message>>,
    /// The text to which a chunk without an id belongs. The next field is the same for calls.
    open_text: Option<String>,
    open_call: Option<String>,
}

/// A message that is still being built.
struct Entry {
    message: Message,
    /// The index of its text block.
    text: Option<usize>,
    /// True if it only contains thoughts, or if it is shown but not sent.
    is_aside: bool,
}

impl Fold {
    fn event(&mut self, n: usize, json: Json<'_, '_>) -> Result<(), FormError> {
        let at = place_of(json, format!("/{n}"));
        let kind = json.field("type").as_str().unwrap_or_default();
        if kind == "MESSAGES_SNAPSHOT" {
            return self.snapshot(n, json.field("messages"));
        }
        if kind == "RUN_STARTED" {
            let thread = json.field("threadId").as_str().map(|id| id.into_owned());
            self.folded.thread = thread.or(self.folded.thread.take());
            return self.input(n, json.field("input").field("messages"));
        }
        let event = json.to_value();
        let id = |key: &str| event.get(key).and_then(Value::as_str).map(str::to_owned);
        match kind.as_ref() {
            "TEXT_MESSAGE_START" => self.begin_text(n, &at, text(&event, "messageId"), &event),
            "TEXT_MESSAGE_CONTENT" => self.add_text(n, &at, text(&event, "messageId"), text(&event, "delta")),
            "TEXT_MESSAGE_END" => self.own(n, text(&event, "messageId")),
            "TEXT_MESSAGE_CHUNK" => {
                let Some(id) = id("messageId").or(self.open_text.clone()) else { return Ok(()) };
                self.begin_text(n, &at, &id, &event);
                self.add_text(n, &at, &id, text(&event, "delta"));
                self.open_text = Some(id);
            }
            "TOOL_CALL_START" => self.begin_call(n, &at, text(&event, "toolCallId"), &event),
            "TOOL_CALL_ARGS" => self.add_arguments(n, text(&event, "toolCallId"), text(&event, "delta")),
            "TOOL_CALL_END" => {
                self.add_arguments(n, text(&event, "toolCallId"), "");
                self.folded.ended.insert(text(&event, "toolCallId").to_owned());
            }
            "TOOL_CALL_CHUNK" => {
                let Some(id) = id("toolCallId").or(self.open_call.clone()) else { return Ok(()) };
                if !self.calls.contains_key(&id) {
                    self.begin_call(n, &at, &id, &event);
                }
                self.add_arguments(n, &id, text(&event, "delta"));
                self.folded.ended.insert(id.clone());
                self.open_call = Some(id);
            }
            "TOOL_CALL_RESULT" => self.result(n, &at, &event),
            kind if is_aside(kind) => {}
            kind => note(&mut self.folded.unknown, format!("event {}", word(kind))),
        }
        Ok(())
    }

    fn begin_text(&mut self, n: usize, at: &Place, id: &str, event: &Value) {
        if !self.entries.contains_key(id) {
            let role = match text(event, "role") {
                "user" => Role::User,
                "system" | "developer" => Role::System,
                _ => Role::Assistant,
            };
            self.push(
                id,
                Entry { message: message(role, Vec::new(), Some(id), at), text: None, is_aside: false },
            );
        }
        self.add_text(n, at, id, "");
    }

    /// Appends to a message's text. In a message with calls, the text is before the calls.
    fn add_text(&mut self, n: usize, at: &Place, id: &str, delta: &str) {
        let Some(entry) = self.entries.get_mut(id).filter(|entry| !entry.is_aside) else { return };
        let blocks = &mut entry.message.blocks;
        let place = match entry.text.and_then(|text| blocks.get_mut(text)) {
            Some(Block { content: Content::Text(text), place, .. }) => {
                text.push_str(delta);
                place.pointer.clone()
            }
            // Without any words there is no text block.
            _ if delta.is_empty() => at.pointer.clone(),
            _ => {
                entry.text = Some(blocks.len());
                // The text has the place of its message, unless a call has that place.
                let is_first = blocks.is_empty() && entry.message.role != Role::Tool;
                let place = if is_first { &entry.message.place } else { at };
                blocks.push(block(place, Content::Text(delta.to_owned())));
                place.pointer.clone()
            }
        };
        let begun = entry.message.place.pointer.clone();
        self.folded.events.entry(if delta.is_empty() { begun } else { place }).or_default().push(n);
    }

    fn own(&mut self, n: usize, id: &str) {
        let Some(entry) = self.entries.get(id) else { return };
        let text = entry.text.and_then(|text| entry.message.blocks.get(text));
        let place = text.map_or(&entry.message.place, |text| &text.place);
        self.folded.events.entry(place.pointer.clone()).or_default().push(n);
    }

    /// `resolveOrCreateAssistantMessage`: adds the call to its parent if that is a model message, otherwise
    /// to a new message.
    fn begin_call(&mut self, n: usize, at: &Place, id: &str, event: &Value) {
        if self.calls.contains_key(id) {
            return self.add_arguments(n, id, "");
        }
        let parent = event.get("parentMessageId").and_then(Value::as_str);
        let owner = match parent.map(|parent| (parent, self.entries.get(parent))) {
            Some((parent, None)) => parent,
            Some((parent, Some(entry))) if entry.message.role == Role::Assistant && !entry.is_aside => parent,
            _ => id,
        };
        if !self.entries.contains_key(owner) {
            let message = message(Role::Assistant, Vec::new(), Some(owner), at);
            self.push(owner, Entry { message, text: None, is_aside: false });
        }
        let Some(entry) = self.entries.get_mut(owner) else { return };
        let name = text(event, "toolCallName").to_owned();
        let call = Call::new(id, name, "");
        self.calls.insert(id.to_owned(), (owner.to_owned(), entry.message.blocks.len()));
        entry.message.blocks.push(block(at, Content::Call(call)));
        self.folded.events.entry(at.pointer.clone()).or_default().push(n);
    }

    fn add_arguments(&mut self, n: usize, id: &str, delta: &str) {
        let Some((owner, index)) = self.calls.get(id) else { return };
        let Some(entry) = self.entries.get_mut(owner) else { return };
        if let Some(Block { content: Content::Call(call), place, .. }) = entry.message.blocks.get_mut(*index)
        {
            call.arguments.push_str(delta);
            self.folded.events.entry(place.pointer.clone()).or_default().push(n);
        }
    }

    /// "Place the tool result immediately after the assistant message that issued the matching tool call —
    /// not at the end". Without such a message, the result is placed at the end.
    fn result(&mut self, n: usize, at: &Place, event: &Value) {
        let result: CallResult = result(event);
        let owner = self.calls.get(&result.call).map(|(owner, _)| owner.clone());
        let blocks = vec![block(at, Content::Result(result))];
        let id = text(event, "messageId");
        let answer = message(Role::Tool, blocks, Some(id), at);
        self.folded.events.entry(at.pointer.clone()).or_default().push(n);
        match owner {
            Some(owner) => self.results.entry(owner).or_default().push(answer),
            // Message ids are not checked for duplicates, so the key includes the place.
            None => self
                .push(&format!("{id}{}", at.pointer), Entry { message: answer, text: None, is_aside: false }),
        }
    }

    fn push(&mut self, id: &str, entry: Entry) {
        self.order.push(id.to_owned());
        self.entries.insert(id.to_owned(), entry);
    }

    /// Adds a run's input messages that do not exist yet.
    fn input(&mut self, n: usize, messages: Json<'_, '_>) -> Result<(), FormError> {
        for (k, value) in messages.items().enumerate() {
            let id = value.field("id").as_str().unwrap_or_default();
            if !self.entries.contains_key(id.as_ref()) {
                let pointer = format!("/{n}/input/messages/{k}");
                self.take(&id, &pointer, value)?;
            }
        }
        Ok(())
    }

    /// Replaces all messages with those from a snapshot. Existing messages keep their order.
    fn snapshot(&mut self, n: usize, messages: Json<'_, '_>) -> Result<(), FormError> {
        let before = std::mem::take(&mut self.order);
        self.entries.clear();
        self.calls.clear();
        let answers = std::mem::take(&mut self.results);
        for (k, value) in messages.items().enumerate() {
            let id = value.field("id").as_str().unwrap_or_default();
            self.take(&id, &format!("/{n}/messages/{k}"), value)?;
        }
        // Existing results come after the messages with their calls, each as a message of its own.
        let before = before.into_iter().flat_map(|id| {
            let answers = answers.get(&id).into_iter().flatten().filter_map(|answer| answer.id.clone());
            let answers: Vec<String> = answers.collect();
            std::iter::once(id).chain(answers)
        });
        let new = std::mem::take(&mut self.order);
        let mut seen = BTreeSet::new();
        let known: BTreeSet<&String> = new.iter().collect();
        let kept: Vec<String> = before.filter(|id| known.contains(id) && seen.insert(id.clone())).collect();
        let added = new.iter().filter(|id| !seen.contains(*id)).cloned();
        self.order = kept.into_iter().chain(added).collect();
        Ok(())
    }

    /// Adds a complete message.
    fn take(&mut self, id: &str, pointer: &str, value: Json<'_, '_>) -> Result<(), FormError> {
        let read = read_message(&mut self.folded.unknown, pointer, value)?;
        let is_aside = read.is_none() || value.field("role").is("reasoning");
        let place = place_of(value, pointer.to_owned());
        let message = read.unwrap_or_else(|| message(Role::Assistant, Vec::new(), Some(id), &place));
        let is_text = |block: &Block| matches!(block.content, Content::Text(_));
        let text = message.blocks.iter().position(is_text);
        for (n, block) in message.blocks.iter().enumerate() {
            if let Content::Call(call) = &block.content {
                self.calls.insert(call.id.clone(), (id.to_owned(), n));
                self.folded.ended.insert(call.id.clone());
            }
        }
        self.push(id, Entry { message, text, is_aside });
        Ok(())
    }
}

/// Returns whether an event adds nothing that is sent.
fn is_aside(kind: &str) -> bool {
    const NAMES: [&str; 6] = ["RUN_FINISHED", "RUN_ERROR", "STEP_STARTED", "STEP_FINISHED", "RAW", "CUSTOM"];
    const KINDS: [&str; 5] = ["STATE_", "ACTIVITY_", "REASONING_", "THINKING_", "SUBAGENT_"];
    NAMES.contains(&kind) || KINDS.iter().any(|start| kind.starts_with(start))
}
