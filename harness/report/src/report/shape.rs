//! The shape of a request in the scenario's terms: `u[text] a[text,call a,call b] u[result a,made-up error
//! b]`.

use crate::record::Record;
use brickbat_rules::dialect::Dialect;
use brickbat_rules::json::Document;
use brickbat_scenario::history::{Content, History, Item, Role, made_up_word, result_word, text_word};
use brickbat_scenario::plan::{CallKey, MARKER, ToolOutcome, is_made_up};
use brickbat_scenario::trace::Event;
use brickbat_scenario::wire;

/// A human-readable legend for the letters and words in a shape.
pub const LEGEND: &str = "u user, a assistant, t tool, s system; [blocks of one message]; \"\": an empty text; made-up: a result that no \
     tool returned; ?id: a call that is not in the plan; a': call a in the second attempt at a reply";

/// Characters of an unknown id that are shown.
const MAX_ID_CHARS: usize = 24;

/// The shape of a request body that arrived after the first `n_events` events in the trace.
pub fn shape(record: &Record, body: &[u8], n_events: usize) -> String {
    let history = match Document::parse(body) {
        Ok(body) => wire::history(dialect_at(record, n_events), body.root()),
        Err(_) => return "not JSON".to_owned(),
    };
    let mut shape = String::new();
    let mut previous = None;
    for item in &history.items {
        if previous == Some(item.message) {
            shape.push(',');
        } else {
            let letter = match item.role {
                Role::User => "u[",
                Role::Assistant => "a[",
                Role::Tool => "t[",
                Role::Other => "s[",
            };
            shape.push_str(if previous.is_some() { "] " } else { "" });
            shape.push_str(letter);
        }
        previous = Some(item.message);
        shape.push_str(&block(record, &history, item, n_events));
    }
    match previous {
        Some(_) => shape + "]",
        None => "no messages".to_owned(),
    }
}

/// The dialect of the provider after the first `n_events`.
fn dialect_at(record: &Record, n_events: usize) -> Dialect {
    let events = record.observed.as_ref().map_or(&[][..], |observed| observed.trace.events());
    let turn = events.iter().take(n_events).rev().find_map(|event| match event {
        Event::Prompted { turn } => Some(*turn),
        _ => None,
    });
    record.plan.dialect_of(turn.unwrap_or_default())
}

fn block(record: &Record, history: &History, item: &Item, n_events: usize) -> String {
    match &item.content {
        Content::Thought { .. } => "thinking".to_owned(),
        Content::Text { text } => text_word(text).to_owned(),
        Content::Call { id, .. } => format!("call {}", name(record, history, id)),
        Content::Result { id, text, is_error } => {
            let key = key_of(record, history, id);
            let given = key.and_then(|key| given(record, key, text, n_events));
            // Some dialects cannot mark a result as an error; there the tool's own outcome decides.
            let is_error = is_error.or(given.map(|outcome| !outcome.is_success()));
            let word = match key.is_some_and(|key| is_made_up(&record.plan.calls, key, given, text)) {
                true => made_up_word(is_error),
                false => result_word(is_error),
            };
            format!("{word} {}", name(record, history, id))
        }
        Content::Raw { value } => match value["type"].as_str() {
            Some(kind) if kind.len() <= MAX_ID_CHARS => kind.to_owned(),
            _ => "raw".to_owned(),
        },
    }
}

/// The scenario's name for the call that an id in a request refers to.
fn name(record: &Record, history: &History, id: &str) -> String {
    match key_of(record, history, id) {
        Some(key) => call_name(record, key),
        None => format!("?{}", id.chars().take(MAX_ID_CHARS).collect::<String>()),
    }
}

/// The name of a call; a later attempt's name is marked.
pub(super) fn call_name(record: &Record, key: CallKey) -> String {
    match record.call(key) {
        Some(call) => format!("{}{}", call.name, "'".repeat(call.attempt)),
        None => format!("?{}", key.0),
    }
}

/// The call with an id or, if the system uses its own ids, with the marker in its arguments.
fn key_of(record: &Record, history: &History, id: &str) -> Option<CallKey> {
    record.call_by_id(id).or_else(|| {
        let args = history.items.iter().find_map(|item| match &item.content {
            Content::Call { id: known, args, .. } if known == id => Some(args),
            _ => None,
        })?;
        let marker = args.get(MARKER)?.as_str()?;
        let at = record.plan.calls.iter().position(|call| call.marker == marker)?;
        Some(CallKey(at as u32))
    })
}

/// The outcome of the called tool by then. `None` if it had no result yet. A fast system may send a result
/// before the harness sees it arrive; then the text names its source.
fn given<'a>(record: &'a Record, key: CallKey, text: &str, n_events: usize) -> Option<&'a ToolOutcome> {
    let events = record.observed.as_ref().map_or(&[][..], |observed| observed.trace.events());
    events.iter().enumerate().find_map(|(at, event)| match event {
        Event::ToolSettled { call, outcome, .. }
            if *call == key && (at < n_events || text.contains(outcome.text())) =>
        {
            Some(outcome)
        }
        _ => None,
    })
}
