//! The runner's send model: `prepare_input_with_session` in `agents/run_internal/session_persistence.py`, and
//! `drop_orphan_function_calls` and `deduplicate_input_items_preferring_latest` in
//! `agents/run_internal/items.py`, from openai-agents 0.24.0. The store does not record the version that
//! reads it, so this is the newest known one.
//!
//! A result without a call is sent unchanged: it is dropped only if the program limits the size of the sent
//! history. Items that belong to a program of the model are left unchanged here.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::Dialect;
use brickbat_rules::histories::{Block as Content, Role};
use serde_json::{Value, json};

use super::item::{TOOLS, kind};
use crate::json::text;
use crate::{Block, Message, Sent, Session};

pub(super) fn send(session: &Session) -> Sent {
    let entries = entries(session);
    let calls = unanswered(&entries);
    let thoughts = thoughts_before(&entries, &calls);
    let mut mended = Vec::new();
    note(&mut mended, "drops calls without a result", calls.len());
    note(&mut mended, "drops the reasoning before a call that it drops", thoughts.len());
    let kept = entries.into_iter().enumerate().filter(|(n, _)| !calls.contains(n) && !thoughts.contains(n));
    let kept = kept.map(|(_, entry)| entry).collect();
    sent(session, kept, mended)
}

/// The messages that a run of the JavaScript SDK sends when the list is its input:
/// `deduplicateAgentInputItemsPreferringLatest` in `runner/items.mjs` of `@openai/agents-core` 0.20.0. Calls
/// without a result are sent.
pub(super) fn send_list(session: &Session) -> Sent {
    sent(session, entries(session), Vec::new())
}

fn entries(session: &Session) -> Vec<Entry<'_>> {
    let mut entries = Vec::new();
    for (message, found) in session.messages.iter().enumerate() {
        entries.extend(found.blocks.iter().map(|block| Entry { message, block }));
    }
    entries
}

fn note(mended: &mut Vec<(&'static str, usize)>, words: &'static str, n: usize) {
    if n > 0 {
        mended.push((words, n));
    }
}

/// Keeps the last of the items with the same id, grouped into messages.
fn sent(session: &Session, kept: Vec<Entry<'_>>, mut mended: Vec<(&'static str, usize)>) -> Sent {
    let n_kept = kept.len();
    let kept = latest(kept);
    note(&mut mended, "sends the last of items with one id", n_kept - kept.len());
    let messages = match mended.is_empty() {
        true => session.messages.clone(),
        false => grouped(session, &kept),
    };
    let messages = messages.into_iter().map(with_id).collect();
    Sent { messages, mended, gives_up: None }
}

/// A block with the index of its message.
#[derive(Clone, Copy)]
struct Entry<'s> {
    message: usize,
    block: &'s Block,
}

impl<'s> Entry<'s> {
    /// The type of its item.
    fn kind(&self) -> &'s str {
        match &self.block.content {
            Content::Call(_) => "function_call",
            Content::Result(_) => "function_call_output",
            Content::Thinking(_) => "reasoning",
            Content::Native { value, .. } => kind(value),
            Content::Text(_) | Content::Image(_) => "message",
        }
    }

    fn call(&self) -> Option<&'s str> {
        match &self.block.content {
            Content::Call(call) => Some(&call.id),
            Content::Result(result) => Some(&result.call),
            Content::Native { value, .. } => value.get("call_id").and_then(Value::as_str),
            _ => None,
        }
    }

    /// The key by which two items are duplicates: `_dedupe_key`.
    fn key(&self) -> Option<(bool, &'s str, &'s str)> {
        let kind = self.kind();
        if kind == "message" {
            return None;
        }
        let id = match &self.block.content {
            Content::Thinking(thinking) => thinking.id.as_deref(),
            Content::Native { value, .. } => Some(text(value, "id")).filter(|id| !id.is_empty()),
            _ => None,
        };
        let is_tool = TOOLS.iter().any(|(call, output)| kind == *call || kind == *output);
        match (self.call(), id) {
            (Some(call), _) if is_tool => Some((true, kind, call)),
            (_, Some(id)) => Some((false, kind, id)),
            (Some(call), None) => Some((true, kind, call)),
            (None, None) => None,
        }
    }
}

/// The calls that no item in the history answers, whether before or after them.
fn unanswered(entries: &[Entry<'_>]) -> BTreeSet<usize> {
    let answers: BTreeSet<(&str, Option<&str>)> =
        entries.iter().map(|entry| (entry.kind(), entry.call())).collect();
    let is_unanswered = |entry: &Entry<'_>| {
        let output = TOOLS.iter().find(|(call, _)| *call == entry.kind()).map(|(_, output)| *output);
        output.is_some_and(|output| !answers.contains(&(output, entry.call())))
    };
    (0..entries.len()).filter(|n| is_unanswered(&entries[*n])).collect()
}

/// The reasoning that is followed by one of these calls.
fn thoughts_before(entries: &[Entry<'_>], calls: &BTreeSet<usize>) -> BTreeSet<usize> {
    let mut is_tied = false;
    let mut thoughts = BTreeSet::new();
    for (n, entry) in entries.iter().enumerate().rev() {
        if entry.kind() != "reasoning" {
            is_tied = calls.contains(&n);
        } else if is_tied {
            thoughts.insert(n);
        }
    }
    thoughts
}

/// Keeps the last of the items with the same key. Calls and reasoning move to the position of the first.
fn latest<'s>(entries: Vec<Entry<'s>>) -> Vec<Entry<'s>> {
    let mut seen: BTreeMap<(bool, &str, &str), (usize, &'s Block)> = BTreeMap::new();
    for (n, entry) in entries.iter().enumerate() {
        let Some(key) = entry.key() else { continue };
        let kind = entry.kind();
        let is_anchored = kind == "reasoning" || kind == "mcp_approval_request" || kind.ends_with("_call");
        let at = match seen.get(&key) {
            Some((first, _)) if is_anchored => *first,
            _ => n,
        };
        seen.insert(key, (at, entry.block));
    }
    let keep = |(n, entry): (usize, Entry<'s>)| match entry.key().and_then(|key| seen.get(&key)) {
        Some((at, block)) => (*at == n).then_some(Entry { block, ..entry }),
        None => Some(entry),
    };
    entries.into_iter().enumerate().filter_map(keep).collect()
}

/// Groups the entries into messages again.
fn grouped(session: &Session, entries: &[Entry<'_>]) -> Vec<Message> {
    let stretches = entries.chunk_by(|one, next| one.message == next.message);
    let message = |stretch: &[Entry<'_>]| {
        let found = session.messages.get(stretch.first()?.message)?;
        let blocks = stretch.iter().map(|entry| entry.block.clone()).collect();
        let (id, place) = (found.id.clone(), found.place.clone());
        Some(Message { role: found.role, blocks, id, place, ending: found.ending })
    };
    stretches.filter_map(message).collect()
}

/// Sends a model message's text with its id.
fn with_id(mut message: Message) -> Message {
    let Some(id) = message.id.clone().filter(|_| message.role == Role::Assistant) else { return message };
    let mut content = Vec::new();
    let mut first = None;
    for (n, block) in message.blocks.iter().enumerate() {
        if let Content::Text(text) = &block.content {
            content.push(json!({ "type": "output_text", "text": text, "annotations": [] }));
            first = first.or(Some(n));
        }
    }
    let Some(first) = first else { return message };
    let (kind, role, status) = ("message", "assistant", "completed");
    let value = json!({ "type": kind, "id": id, "role": role, "status": status, "content": content });
    message.blocks[first].content = Content::Native { dialect: Dialect::OpenaiResponses, value };
    message.blocks.retain(|block| !matches!(block.content, Content::Text(_)));
    message
}
