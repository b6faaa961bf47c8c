//! Messages that are never sent but may contain a real result: other forks, sub-agents, and files next to the
//! session.

use std::collections::{BTreeMap, BTreeSet};

use brickbat_rules::histories::{self, CallResult, Role};
use brickbat_rules::json::{Document, Json};

use super::branch::Branch;
use super::line::{Lines, Record};
use super::messages;
use crate::{Block, Ending, File, Files, Message, Place};

/// All messages off the branch: those in the file, in order, then those in its companions.
pub(super) fn off_branch(
    files: &Files,
    records: &[Record],
    branch: &Branch,
    on_branch: &[Message],
) -> Vec<Message> {
    let bytes = files.main();
    let open = open_calls(on_branch);
    let mut found = Vec::new();
    for (at, record) in records.iter().enumerate() {
        // API errors are on the chain, but are never sent.
        if (!branch.is_on[at] || record.is_api_error) && record.is_known {
            found.extend(messages::of_line(bytes, record, 0));
        }
    }
    found.extend(displayed(bytes, records, &open));
    for (file, companion) in files.files.iter().enumerate().skip(1) {
        if is_sub_agent(&companion.name) {
            let lines = Lines::read(&companion.bytes);
            let known = lines.records.iter().filter(|record| record.is_known);
            found.extend(known.flat_map(|record| messages::of_line(&companion.bytes, record, file)));
        } else if let Some(call) = call_of(&companion.name).filter(|call| open.contains(call)) {
            found.push(saved(companion, file, call));
        }
    }
    found
}

/// The calls on the branch without a result there.
fn open_calls(on_branch: &[Message]) -> BTreeSet<&str> {
    let answered: BTreeSet<&str> =
        on_branch.iter().flat_map(Message::results).map(|result| result.call.as_str()).collect();
    let calls = on_branch.iter().flat_map(Message::calls).map(|call| call.id.as_str());
    calls.filter(|call| !answered.contains(call)).collect()
}

/// Results that only survive in their display form: lines with a `toolUseResult` that name their call's line
/// but lost the result itself.
fn displayed(bytes: &[u8], records: &[Record], open: &BTreeSet<&str>) -> Vec<Message> {
    let by_uuid: BTreeMap<&str, &Record> =
        records.iter().map(|record| (record.uuid.as_str(), record)).collect();
    let displayed = records.iter().filter(|record| record.has_display && record.results.is_empty());
    let found = displayed.filter_map(|record| {
        let [call] = by_uuid.get(record.source.as_deref()?)?.calls.as_slice() else { return None };
        if !open.contains(call.as_str()) {
            return None;
        }
        let document = Document::parse(&bytes[record.span.clone()]).ok()?;
        let value = document.root().field("toolUseResult");
        let place = messages::place(record, value, "/toolUseResult".to_owned());
        Some(result(call, displayed_words(value), place))
    });
    found.collect()
}

/// A result in display form as text: text stays unchanged, and any other value becomes JSON.
pub(super) fn displayed_words(value: Json) -> String {
    value.as_str().map_or_else(|| value.raw().to_owned(), std::borrow::Cow::into_owned)
}

/// Matches `<session>/subagents/agent-<id>.jsonl`, or in older versions `agent-<id>.jsonl` next to the
/// session.
fn is_sub_agent(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or_default();
    last.starts_with("agent-") && last.ends_with(".jsonl")
}

/// The call id of a result that was too large for the session: `<session>/tool-results/<call>.txt`.
pub(super) fn call_of(name: &str) -> Option<&str> {
    let (folder, last) = name.rsplit_once('/')?;
    let (call, _) = last.split_once('.')?;
    (folder.rsplit('/').next() == Some("tool-results") && !call.is_empty()).then_some(call)
}

fn saved(companion: &File, file: usize, call: &str) -> Message {
    let place = Place { file, ..Place::in_file(0..companion.bytes.len() as u64, "") };
    result(call, String::from_utf8_lossy(&companion.bytes).into_owned(), place)
}

fn result(call: &str, words: String, place: Place) -> Message {
    let output = vec![histories::Block::Text(words)];
    let result = CallResult::new(call, "", output);
    let block = Block { place: place.clone(), content: histories::Block::Result(result), state: None };
    Message { role: Role::Tool, blocks: vec![block], id: None, place, ending: Ending::Whole }
}
