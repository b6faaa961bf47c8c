//! Redacts what a stream cuts into pieces.
//!
//! A scenario's own arguments and texts are sent in fragments, so that private data in them has its parts in several
//! events. The fragments of one block are joined, redacted together, and put back where they were.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::de::IgnoredAny;

use super::PlanNote;
use brickbat_rules::json::{Document, Json};
use brickbat_rules::redact::{Redactor, replace_in_pieces};
use brickbat_scenario::plan::ScriptBlock;

/// Redacts the fragments in a plan.
pub(super) fn redact_plan(plan: &mut PlanNote, redactor: &Redactor) {
    plan.calls.iter_mut().for_each(|call| redactor.pieces(&mut call.deltas));
    let attempts =
        plan.turns.iter_mut().flat_map(|turn| &mut turn.replies).flat_map(|reply| &mut reply.attempts);
    for block in attempts.flat_map(|script| &mut script.blocks) {
        match block {
            ScriptBlock::Think(fragments) | ScriptBlock::Text(fragments) => redactor.pieces(fragments),
            ScriptBlock::Call(_) | ScriptBlock::Server(_) => {}
        }
    }
}

/// Redacts the frames of a reply: the fragments in its events, and then each text.
pub(super) fn redact_frames(frames: &mut [String], redactor: &Redactor) {
    let edits = fragment_edits(&frames.concat(), redactor);
    replace_in_pieces(frames, edits);
    redactor.pieces(frames);
}

/// The number of braces in one line that begin no value, after which the rest of the line is left. A line that is cut
/// off would otherwise be read again from each brace.
const MAX_UNREAD: usize = 8;

/// The fragments of one text: where each is in the body, and the text itself.
#[derive(Default)]
struct Fragments {
    spans: Vec<Range<usize>>,
    texts: Vec<String>,
}

/// The replacements of all fragments with private data in a body.
fn fragment_edits(body: &str, redactor: &Redactor) -> Vec<(Range<usize>, String)> {
    let mut found: BTreeMap<String, Fragments> = BTreeMap::new();
    let mut start = 0;
    for line in body.split_inclusive('\n') {
        // A line has an event as JSON, after the name of its field.
        let (mut at, mut n_unread) = (0, 0);
        while n_unread < MAX_UNREAD
            && let Some(open) = line[at..].find('{').map(|open| at + open)
        {
            let mut values = serde_json::Deserializer::from_str(&line[open..]).into_iter::<IgnoredAny>();
            let is_read = values.next().is_some_and(|value| value.is_ok());
            at = open + if is_read { values.byte_offset() } else { 1 };
            n_unread += usize::from(!is_read);
            if let Some(document) =
                is_read.then(|| Document::parse(&line.as_bytes()[open..at]).ok()).flatten()
            {
                collect(document.root(), String::new(), start + open, &mut found);
            }
        }
        start += line.len();
    }
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for Fragments { spans, texts } in found.into_values().filter(|fragments| fragments.texts.len() > 1) {
        let mut clean = texts.clone();
        redactor.pieces(&mut clean);
        let changed = spans.into_iter().zip(texts.iter().zip(clean)).filter(|(_, (old, new))| *old != new);
        edits.extend(changed.map(|(span, (_, new))| (span, serde_json::Value::from(new).to_string())));
    }
    edits.sort_by_key(|(span, _)| span.start);
    edits
}

/// The fields that number the blocks of a reply. Items of lists have them instead of their position.
const NUMBERS: [&str; 4] = ["index", "output_index", "content_index", "contentBlockIndex"];

/// The fields with names as values, which no stream cuts.
const NAMES: [&str; 5] = ["type", "object", "id", "model", "role"];

/// Collects the texts of an event by their path and the numbers on the way to them.
fn collect(value: Json<'_, '_>, path: String, start: usize, found: &mut BTreeMap<String, Fragments>) {
    if let Some(text) = value.as_str() {
        let span = value.span();
        let fragments = found.entry(path).or_default();
        fragments.spans.push(start + span.start..start + span.end);
        fragments.texts.push(text.into_owned());
        return;
    }
    value.items().for_each(|item| collect(item, path.clone(), start, found));
    if !value.is_object() {
        return;
    }
    let numbers: String =
        NUMBERS.iter().map(|name| value.field(name).raw()).filter(|raw| *raw != "null").collect();
    for (name, inner) in value.fields() {
        let name = name.as_str().unwrap_or_default();
        if !NAMES.contains(&name.as_ref()) {
            collect(inner, format!("{path}/{numbers}:{name}"), start, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, n_bytes: usize) -> Vec<String> {
        let chars: Vec<char> = text.chars().collect();
        chars.chunks(n_bytes).map(|chunk| chunk.iter().collect()).collect()
    }

    fn event(index: usize, fragment: &str) -> String {
        let delta = serde_json::json!({ "type": "input_json_delta", "partial_json": fragment });
        format!("event: x\ndata: {}\n\n", serde_json::json!({ "index": index, "delta": delta }))
    }

    #[test]
    fn fragments_of_interleaved_calls_are_redacted_together() {
        let arguments = [r#"{"p":"/home/adalovelace/x"}"#, r#"{"p":"C:\\Users\\adaking\\x"}"#];
        let parts = arguments.map(|text| cut(text, 4));
        let both = parts[0].iter().zip(&parts[1]);
        let mut frames: Vec<String> = both.flat_map(|(a, b)| [event(0, a), event(1, b)]).collect();
        let n_frames = frames.len();
        redact_frames(&mut frames, &Redactor::default());
        assert_eq!(frames.len(), n_frames);
        let joined = |index: usize| -> String {
            let of = frames.iter().skip(index).step_by(2);
            let fragment = |frame: &String| {
                let json = frame.split_once("data: ").unwrap().1;
                let value: serde_json::Value = serde_json::from_str(json).unwrap();
                value["delta"]["partial_json"].as_str().unwrap().to_owned()
            };
            of.map(fragment).collect()
        };
        assert!(joined(0).starts_with(r#"{"p":"/home/[redacted]"#), "{}", joined(0));
        assert!(joined(1).starts_with(r#"{"p":"C:\\Users\\[redacted]"#), "{}", joined(1));
    }

    #[test]
    fn a_body_in_two_halves_is_redacted_as_one() {
        let mut halves = ["{\"text\":\"in /home/ada".to_owned(), "lovelace/x\"}".to_owned()];
        redact_frames(&mut halves, &Redactor::default());
        assert_eq!(halves.concat(), "{\"text\":\"in /home/[redacted]/x\"}");
    }

    #[test]
    fn what_is_not_private_stays_as_it_is() {
        let mut frames = vec![event(0, "{\"k\":"), event(0, "\"a@b\"}"), "data: {\"a\":{{{{".repeat(50)];
        let before = frames.clone();
        redact_frames(&mut frames, &Redactor::default());
        assert_eq!(frames, before);
    }
}
