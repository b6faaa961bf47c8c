//! Calls and results that a store has twice: an id in the place of another, a record that was written again. Each store
//! is judged, and repaired without a loss, or named as beyond repair.

use std::collections::BTreeSet;

use brickbat_rules::histories::Block;
use brickbat_sessions::{Files, oracle, read};
use serde_json::Value;

use super::entry::{Case, all};

/// The ids of the calls and results in a store.
fn ids(files: &Files) -> BTreeSet<String> {
    let sessions = read(files).unwrap_or_default();
    let messages = sessions.iter().flat_map(|session| session.messages.iter().chain(&session.off_branch));
    let ids = messages.flat_map(|message| &message.blocks).filter_map(|block| match &block.content {
        Block::Call(call) => Some(call.id.clone()),
        Block::Result(result) => Some(result.call.clone()),
        _ => None,
    });
    ids.filter(|id| !id.is_empty()).collect()
}

/// The forms in which a store may have an id: as it is, or in the hexadecimal digits of a column in SQL.
fn forms(id: &str) -> [String; 2] {
    [id.to_owned(), id.bytes().map(|byte| format!("{byte:02X}")).collect()]
}

/// The text with one of the ids in each place of another, and with one in all places of another.
fn with_ids_twice(text: &str, ids: &BTreeSet<String>) -> Vec<String> {
    let mut variants = Vec::new();
    for (from, to) in ids.iter().flat_map(|from| ids.iter().map(move |to| (from, to))) {
        if from == to {
            continue;
        }
        for (from, to) in forms(from).iter().zip(&forms(to)) {
            let places = text.match_indices(from.as_str());
            variants.extend(places.map(|(at, _)| [&text[..at], to, &text[at + from.len()..]].concat()));
            variants.push(text.replace(from.as_str(), to));
        }
    }
    variants
}

/// The text with each line twice, and with each item of a list that has an id twice: directly behind it, or at the end.
fn with_records_twice(text: &str, ids: &BTreeSet<String>) -> Vec<String> {
    let has_id = |text: &str| ids.iter().any(|id| text.contains(id.as_str()));
    if let Ok(root) = serde_json::from_str::<Value>(text) {
        let mut lists = Vec::new();
        collect(&root, String::new(), &mut lists);
        let mut variants = Vec::new();
        for (pointer, n) in lists {
            let item = &root.pointer(&pointer).unwrap()[n];
            if !has_id(&item.to_string()) {
                continue;
            }
            for at in [Some(n + 1), None] {
                let mut root = root.clone();
                let list = root.pointer_mut(&pointer).unwrap().as_array_mut().unwrap();
                list.insert(at.unwrap_or(list.len()), list[n].clone());
                variants.push(root.to_string());
            }
        }
        return variants;
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut variants = Vec::new();
    for (n, line) in lines.iter().enumerate().filter(|(_, line)| has_id(line)) {
        for at in [n + 1, lines.len()] {
            let mut lines = lines.clone();
            lines.insert(at, line);
            variants.push(lines.join("\n") + "\n");
        }
    }
    variants
}

/// The items of all lists: the pointer of the list and the index.
fn collect(value: &Value, at: String, into: &mut Vec<(String, usize)>) {
    match value {
        Value::Array(items) => {
            for (n, item) in items.iter().enumerate() {
                into.push((at.clone(), n));
                collect(item, format!("{at}/{n}"), into);
            }
        }
        Value::Object(fields) => {
            let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
            fields.iter().for_each(|(name, field)| collect(field, format!("{at}/{}", escaped(name)), into));
        }
        _ => {}
    }
}

/// The texts of all stores, and the promises that are broken for them.
fn check(texts: impl Fn(&Case, &str, &BTreeSet<String>) -> Vec<String>) {
    let mut n_texts = 0;
    let mut wrong = Vec::new();
    for case in all() {
        let Ok(text) = String::from_utf8(case.text()) else { continue };
        for text in texts(&case, &text, &ids(&case.files())) {
            n_texts += 1;
            // A table may forbid a second id.
            let Ok(files) = case.files_with(text.clone().into_bytes()) else { continue };
            let broken = oracle::wrong_with_files(&files);
            wrong.extend(broken.map(|broken| format!("{}: {broken}\n{text}", case.id)));
        }
    }
    assert!(wrong.is_empty(), "{} of {n_texts}: {}", wrong.len(), wrong[0]);
    assert!(n_texts > 1_000, "{n_texts}");
}

#[test]
fn an_id_in_the_place_of_another_breaks_no_promise() {
    check(|_, text, ids| with_ids_twice(text, ids));
}

#[test]
fn a_record_that_is_there_twice_breaks_no_promise() {
    check(|case, text, ids| match case.entry.store.ends_with(".sql") {
        true => Vec::new(),
        false => with_records_twice(text, ids),
    });
}
