//! Edits of the form of single records: an id that the provider refuses, the text of a thought at the wrong place, an
//! image that cannot be read.
//!
//! They are for stores that keep the items or blocks of the dialect as they are sent. The record is replaced where it is,
//! and all other bytes stay.

use std::borrow::Cow;

use brickbat_rules::json::Document;

use super::{Attempt, RepairOptions};
use crate::form::{ShapedRecord, form_record};
use crate::{Files, Place, RepairError, halves, json, store_of};

/// A record after an edit of its form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reshaped {
    /// The rule that the record broke.
    pub rule: &'static str,
    /// The place of the record.
    pub place: Place,
    /// A description, such as `the id of the item is left out`.
    pub words: &'static str,
    /// True if something is lost that is stored nowhere else.
    pub loses: bool,
}

/// Maximum number of rounds. The judge lists a limited number of refusals, and each round edits all of them.
const MAX_ROUNDS: usize = 16;

/// The session after edits of the form of its refused records. `None` if no record has such an edit.
pub(super) fn reshape(
    start: &Attempt,
    options: &RepairOptions,
) -> Result<Option<(Attempt, Vec<Reshaped>)>, RepairError> {
    let mut current = Cow::Borrowed(start);
    let mut made = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let edits = edits(&current);
        if edits.is_empty() {
            break;
        }
        let Some(files) = written(&current.files, &edits) else { break };
        current = Cow::Owned(current.read_again(files, options)?);
        made.extend(edits.into_iter().map(|(_, reshaped)| reshaped));
    }
    Ok((!made.is_empty()).then(|| (current.into_owned(), made)))
}

/// The new texts of the refused records. No two of them overlap.
fn edits(attempt: &Attempt) -> Vec<(Vec<u8>, Reshaped)> {
    let keeps_offsets =
        store_of(attempt.session.product).is_some_and(|store| store.keeps_offsets(&attempt.session));
    let mut found: Vec<(Vec<u8>, Reshaped)> = Vec::new();
    for refusal in &attempt.judgement.refusals {
        let Some((rule, place)) = refusal.rule.zip(refusal.place.as_ref()) else { continue };
        let place = &record(&attempt.files, place);
        let overlaps = |(_, other): &(_, Reshaped)| {
            other.place.file == place.file && other.place.start < place.end && place.start < other.place.end
        };
        if found.iter().any(overlaps) {
            continue;
        }
        let Some(raw) = raw(&attempt.files, place) else { continue };
        let shaped = form_record(rule, attempt.judgement.profile.dialect, raw, &refusal.pointer);
        let Some(ShapedRecord { mut text, words, loses }) = shaped else { continue };
        if keeps_offsets {
            let Some(n_blanks) = raw.len().checked_sub(text.len()) else { continue };
            text.splice(text.len() - 1..text.len() - 1, std::iter::repeat_n(b' ', n_blanks));
        }
        found.push((text, Reshaped { rule: rule.id, place: place.clone(), words, loses }));
    }
    found
}

/// The place of a whole record. The span of a message with parts begins at its first part, since edits of calls and
/// results are for parts.
fn record(files: &Files, place: &Place) -> Place {
    let in_line = || {
        let bytes = files.files.get(place.file).filter(|file| halves::is_text(file))?.bytes.as_slice();
        let line = json::lines(bytes).find(|line| Some(line.n) == place.line)?;
        let document = Document::parse(line.bytes).ok()?;
        let span = document.root().pointer(&place.pointer).span();
        let (start, end) = ((line.start + span.start) as u64, (line.start + span.end) as u64);
        (start <= place.start && place.end <= end).then(|| Place { start, end, ..place.clone() })
    };
    in_line().unwrap_or_else(|| place.clone())
}

/// The bytes of a record in a text file.
fn raw<'f>(files: &'f Files, place: &Place) -> Option<&'f [u8]> {
    let file = files.files.get(place.file).filter(|file| place.row.is_none() && halves::is_text(file))?;
    file.bytes.get(usize::try_from(place.start).ok()?..usize::try_from(place.end).ok()?)
}

fn written(files: &Files, edits: &[(Vec<u8>, Reshaped)]) -> Option<Files> {
    let mut files = files.clone();
    for (n, file) in files.files.iter_mut().enumerate() {
        let own = edits.iter().filter(|(_, reshaped)| reshaped.place.file == n);
        let span = |place: &Place| Some(usize::try_from(place.start).ok()?..usize::try_from(place.end).ok()?);
        let own: Option<Vec<_>> =
            own.map(|(text, reshaped)| Some((span(&reshaped.place)?, text.clone()))).collect();
        match own? {
            own if own.is_empty() => {}
            own => file.bytes = json::splice(&file.bytes, own),
        }
    }
    Some(files)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{Files, Mended, Reason, Repair, RepairOptions, repair}; // quoted: the name of the variant

    type Fixed = Mended; // quoted: the name of the variant

    fn fixed(name: &str, lines: &[Value]) -> (Vec<u8>, Box<Fixed>) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        match repair(&Files::one(name, text.as_bytes()), 0, &RepairOptions::default()) {
            Ok(Repair::Mended(fixed)) => (text.into_bytes(), fixed), // quoted: the name of the variant
            Ok(Repair::Beyond(beyond)) => {
                panic!("{}: beyond repair: {}", String::from_utf8_lossy(text.as_bytes()), beyond.why)
            }
            other => panic!("not repaired: {other:?}"),
        }
    }

    fn rollout(mode: &str, items: Vec<Value>) -> Vec<Value> {
        let meta = json!({ "id": "t1", "timestamp": "2026-02-01", "cwd": "/w", "cli_version": "0.150.0", "history_mode": mode });
        let user = json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Go." }] });
        let records = [("session_meta", meta), ("response_item", user)].into_iter();
        let records = records.chain(items.into_iter().map(|item| ("response_item", item))).enumerate();
        records
            .map(|(n, (kind, payload))| {
                json!({ "timestamp": "2026-02-01T08:00:00.000Z", "ordinal": n, "type": kind, "payload": payload })
            })
            .collect()
    }

    fn call(id: &str) -> Vec<Value> {
        vec![
            json!({ "type": "function_call", "id": id, "call_id": "c1", "name": "shell", "arguments": "{}" }),
            json!({ "type": "function_call_output", "call_id": "c1", "output": "done" }),
        ]
    }

    #[test]
    fn an_id_of_another_kind_of_item_is_left_out_of_a_rollout() {
        let (_, fixed) = fixed("rollout.jsonl", &rollout("legacy", call("msg_1")));
        assert_eq!(fixed.reshaped.len(), 1);
        assert_eq!(
            (fixed.reshaped[0].rule, fixed.reshaped[0].loses),
            ("openai-responses/item-id-form", false)
        );
        let text = String::from_utf8_lossy(fixed.files.main()).into_owned();
        assert!(!text.contains("msg_1") && text.contains(r#""call_id":"c1""#), "{text}");
    }

    #[test]
    fn records_of_a_paginated_rollout_stay_where_they_are() {
        let (before, fixed) = fixed("rollout.jsonl", &rollout("paginated", call("msg_1")));
        assert_eq!(fixed.files.main().len(), before.len());
        assert!(!String::from_utf8_lossy(fixed.files.main()).contains("msg_1"));
    }

    #[test]
    fn the_text_of_a_thought_moves_into_its_summary() {
        let thought = json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA",
            "content": [{ "type": "reasoning_text", "text": "I look." }] });
        let items = [vec![thought], call("fc_1")].concat();
        let (_, fixed) = fixed("rollout.jsonl", &rollout("legacy", items));
        let text = String::from_utf8_lossy(fixed.files.main()).into_owned();
        assert!(
            text.contains(r#"{"type":"summary_text","text":"I look."}"#) && !text.contains("reasoning_text"),
            "{text}"
        );
    }

    #[test]
    fn a_thought_without_an_id_that_cannot_be_decrypted_is_dropped() {
        let thought =
            json!({ "type": "reasoning", "summary": [], "encrypted_content": "I look at the file first." });
        let items = [vec![thought], call("fc_1")].concat();
        for mode in ["legacy", "paginated"] {
            let (_, fixed) = fixed("rollout.jsonl", &rollout(mode, items.clone()));
            let text = String::from_utf8_lossy(fixed.files.main()).into_owned();
            assert!(!text.contains("\"reasoning\"") && text.contains(r#""call_id":"c1""#), "{text}");
            assert!(fixed.edits.iter().all(|planned| planned.reason == Reason::Hollow), "{:?}", fixed.edits);
        }
    }

    #[test]
    fn the_text_of_a_thought_that_codex_does_not_send_stays_in_the_rollout() {
        let thought = json!({ "type": "reasoning", "summary": [], "encrypted_content": "gAAAA",
            "content": [{ "type": "text", "text": "I look." }] });
        let text: String = rollout("legacy", [vec![thought], call("fc_1")].concat())
            .iter()
            .map(|line| format!("{line}\n"))
            .collect();
        let files = Files::one("rollout.jsonl", text);
        assert!(matches!(repair(&files, 0, &RepairOptions::default()), Ok(Repair::Healthy(_))));
    }

    #[test]
    fn an_image_that_cannot_be_read_is_replaced_in_a_result_and_nothing_else_changes() {
        let line = |n: u64, kind: &str, message: Value| {
            let parent = n.checked_sub(1).filter(|n| *n > 0).map(|n| format!("u{n}"));
            json!({ "type": kind, "uuid": format!("u{n}"), "parentUuid": parent, "sessionId": "s", "version": "2.1.170",
                "message": message })
        };
        let image = json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHdpZHRoPSI4IiBoZWlnaHQ9IjgiPjwvc3ZnPg==" } });
        let lines = [
            line(1, "user", json!({ "role": "user", "content": "Look at a.svg." })),
            line(
                2,
                "assistant",
                json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "toolu_1", "name": "Read", "input": {} }] }),
            ),
            line(
                3,
                "user",
                json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "toolu_1", "content": [image] }] }),
            ),
            line(
                4,
                "assistant",
                json!({ "role": "assistant", "content": [{ "type": "text", "text": "A drawing." }] }),
            ),
        ];
        let (before, fixed) = fixed("session.jsonl", &lines);
        assert_eq!((fixed.reshaped.len(), fixed.edits.len()), (1, 0));
        assert!(fixed.reshaped[0].loses);
        let differ = |n: &usize| {
            let line = |bytes: &[u8]| bytes.split(|byte| *byte == b'\n').nth(*n).map(<[u8]>::to_vec);
            line(&before) != line(fixed.files.main())
        };
        assert_eq!((0..4).filter(differ).collect::<Vec<_>>(), [2]);
    }
}
