//! Paginated rollouts, in which records have ordinals: edits that keep the position of every record, and
//! forks.

use brickbat_rules::histories::Block;
use serde_json::{Value, json};

use super::{call, item, meta, open, output, text, verdict, words};
use crate::{File, Files, Repair, RepairOptions, Verdict, repair};

/// Records of a paginated rollout. The first is a `session_meta`, with the ordinal `from`.
fn paginated(id: &str, base: Value, from: u64, items: &[Value]) -> String {
    let mut first = meta();
    first["payload"]["id"] = json!(id);
    first["payload"]["history_mode"] = json!("paginated");
    first["payload"]["history_base"] = base;
    let records = std::iter::once(first).chain(items.iter().cloned().map(item));
    let lines = records.zip(from..).map(|(mut record, ordinal)| {
        record["ordinal"] = json!(ordinal);
        format!("{record}\n")
    });
    lines.collect()
}

#[test]
fn an_item_of_a_paginated_rollout_is_overwritten_in_place() {
    let mut call = call("c1");
    call["id"] = json!("fc_1");
    let twice = [words("user", "a"), call.clone(), output("c1", "seen"), call, output("c1", "seen")];
    let files = Files::one("rollout-1.jsonl", paginated("t1", Value::Null, 0, &twice));
    assert_eq!(verdict(&open(&files)).0, Verdict::Refused);
    let Ok(Repair::Mended(mended)) = repair(&files, 0, &RepairOptions::default()) else { panic!("mended") };
    let (before, after) = (text(&files), text(&mended.files));
    assert_eq!(after.len(), before.len());
    let changed: Vec<usize> =
        before.lines().zip(after.lines()).enumerate().filter(|(_, (a, b))| a != b).map(|(n, _)| n).collect();
    assert_eq!(changed, [4, 5]);
    let records = after.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    assert_eq!(
        records.map(|record| record["ordinal"].as_u64()).collect::<Vec<_>>(),
        [0, 1, 2, 3, 4, 5].map(Some)
    );
    assert!(matches!(repair(&mended.files, 0, &RepairOptions::default()), Ok(Repair::Healthy(_))));
}

#[test]
fn a_torn_line_of_a_paginated_rollout_is_blanked() {
    let whole = paginated("t1", Value::Null, 0, &[words("user", "a"), words("assistant", "b")]);
    let torn = whole.replacen("\"b\"}]", "\"b\"", 1);
    let files = Files::one("rollout-1.jsonl", torn.clone());
    let Ok(Repair::Mended(mended)) = repair(&files, 0, &RepairOptions::default()) else { panic!("mended") };
    assert_eq!(mended.files.main().len(), torn.len());
    assert_eq!(open(&mended.files).troubles, []);
}

#[test]
fn a_fork_is_judged_with_the_records_it_inherits() {
    let base =
        |id: &str, end: u64| json!({ "thread_id": id, "end_ordinal_exclusive": end, "end_byte_offset": 0 });
    let oldest = [words("user", "a"), words("assistant", "b"), words("user", "not taken over")];
    let oldest = paginated("t0", Value::Null, 0, &oldest);
    let parent = [call("c1"), output("c1", "seen"), words("user", "c"), words("user", "nor this")];
    let parent = paginated("t1", base("t0", 3), 3, &parent);
    let own = paginated("t2", base("t1", 7), 7, &[words("user", "d")]);
    assert_eq!(crate::parent_of(own.as_bytes()).as_deref(), Some("t1"));
    assert_eq!(crate::parent_of(oldest.as_bytes()), None);
    let file = |name: &str, text: &str| File { name: name.to_owned(), bytes: text.as_bytes().to_vec() };
    let mut files = Files::one("rollout-2.jsonl", own);
    files.files.extend([file("rollout-0.jsonl", &oldest), file("rollout-1.jsonl", &parent)]);
    let session = open(&files);
    assert_eq!((session.id.as_deref(), session.is_excerpt), (Some("t2"), false));
    let said: Vec<&str> = session
        .messages
        .iter()
        .flat_map(|message| &message.blocks)
        .filter_map(|block| match &block.content {
            Block::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(said, ["a", "b", "c", "d"]);
    assert_eq!(verdict(&session).0, Verdict::Accepted);

    // A fault in a parent breaks the fork, and is repaired in the parent.
    let mut first = call("c1");
    first["id"] = json!("fc_1");
    let twice = [first.clone(), output("c1", "seen"), first, words("user", "c")];
    files.files[2].bytes = paginated("t1", base("t0", 3), 3, &twice).into_bytes();
    assert_eq!(verdict(&open(&files)).0, Verdict::Refused);
    let Ok(Repair::Beyond(beyond)) = repair(&files, 0, &RepairOptions::default()) else { panic!("beyond") };
    assert!(beyond.why.contains("repair that one"), "{}", beyond.why);

    // A missing parent, and a cycle of parents.
    files.files[2].name = "rollout-3.jsonl".to_owned();
    files.files[2].bytes = paginated("t1", base("t2", 3), 3, &twice).into_bytes();
    assert!(open(&files).is_excerpt);
    files.files.truncate(2);
    assert!(open(&files).is_excerpt);
}
