//! Shared functions for the JSON store tests.

use brickbat_rules::histories::Block as Content;
use serde_json::Value;

use crate::{Edit, Files, Place, Session, Verdict, judge, read, store_of};

/// A pretty-printed file, as programs write it for readers.
pub(crate) fn files(value: &Value) -> Files {
    Files::one("thread.json", serde_json::to_vec_pretty(value).unwrap())
}

/// The only session in the files.
pub(crate) fn session(files: &Files) -> Session {
    let mut sessions = read(files).unwrap();
    assert_eq!(sessions.len(), 1);
    sessions.remove(0)
}

pub(crate) fn verdict(files: &Files) -> Verdict {
    judge(&session(files), None).verdict
}

/// The ids of the broken rules, or the product's own error.
pub(crate) fn refusals(files: &Files) -> Vec<String> {
    let refusals = judge(&session(files), None).refusals;
    refusals
        .into_iter()
        .map(|refusal| refusal.rule.map_or(refusal.message, |rule| rule.id.to_owned()))
        .collect()
}

/// The place with this pointer.
pub(crate) fn place(files: &Files, pointer: &str) -> Place {
    let session = session(files);
    let mut blocks = session.messages.iter().flat_map(|message| &message.blocks);
    blocks.find(|block| block.place.pointer == pointer).unwrap().place.clone()
}

/// The file after the edits. Also checks that writing no edits changes nothing, and that writing the same
/// edits again yields the same bytes.
pub(crate) fn written(files: &Files, edits: &[Edit]) -> Files {
    let before = session(files);
    let store = store_of(before.product).unwrap();
    let after = store.write(files, &before, edits).unwrap();
    assert_eq!(store.write(&after, &session(&after), &[]).unwrap(), after);
    assert_eq!(store.write(files, &before, edits).unwrap(), after);
    after
}

/// The differing parts of two files: first the first file's part, then the second's.
pub(crate) fn difference(before: &Files, after: &Files) -> (String, String) {
    let (old, new) = (before.main(), after.main());
    let n_start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = (old.len() - n_start).min(new.len() - n_start);
    let n_end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let text = |bytes: &[u8]| String::from_utf8(bytes[n_start..bytes.len() - n_end].to_vec()).unwrap();
    (text(old), text(new))
}

/// The results of the session: call id, text, and whether it is an error.
pub(crate) fn results(files: &Files) -> Vec<(String, String, bool)> {
    let session = session(files);
    let results = session.messages.iter().flat_map(crate::Message::results);
    results.map(|result| (result.call.clone(), result.text(), result.is_error)).collect()
}

/// The ids of the session's calls.
pub(crate) fn calls(files: &Files) -> Vec<String> {
    session(files).messages.iter().flat_map(crate::Message::calls).map(|call| call.id.clone()).collect()
}

/// Truncates a file at each byte, and replaces each of its values by others. Reads, judges and edits every
/// variant, which must not panic.
pub(crate) fn survive(value: &Value) {
    let whole = value.to_string().into_bytes();
    for end in 0..whole.len() {
        try_all(&Files::one("t.json", &whole[..end]));
    }
    let mut pointers = Vec::new();
    collect(value, String::new(), &mut pointers);
    for pointer in pointers {
        for other in ["null", "7", "\"x\"", "[]", "{}", "[{}]", "[[7]]"] {
            let mut changed = value.clone();
            *changed.pointer_mut(&pointer).unwrap() = serde_json::from_str(other).unwrap();
            try_all(&files(&changed));
        }
    }
}

fn collect(value: &Value, at: String, pointers: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, item)| collect(item, format!("{at}/{n}"), pointers));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| collect(field, format!("{at}/{name}"), pointers));
        }
        _ => {}
    }
    pointers.push(at);
}

fn try_all(files: &Files) {
    for session in read(files).unwrap_or_default() {
        judge(&session, None);
        let store = store_of(session.product).unwrap();
        for block in session.messages.iter().flat_map(|message| &message.blocks) {
            let place = block.place.clone();
            let id = match &block.content {
                Content::Call(call) => call.id.clone(),
                Content::Result(result) => result.call.clone(),
                _ => String::new(),
            };
            let edits = [
                Edit::Synthesise { call: place.clone(), id: id.clone() },
                Edit::Move { result: place.clone(), call: place.clone(), id },
                Edit::Truncate { last: place.clone() },
                Edit::Drop { block: place },
            ];
            for edit in edits {
                if let Ok(written) = store.write(files, &session, &[edit]) {
                    let _ = read(&written);
                }
            }
        }
    }
}
