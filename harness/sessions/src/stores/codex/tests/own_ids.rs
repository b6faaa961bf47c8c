//! Items with their own ids. Codex 0.169 stores and sends them, and the provider accepts each id only once.

use brickbat_rules::histories::Role;
use serde_json::{Value, json};

use super::{batch, files, item, meta, open, sent, text, verdict, words};
use crate::{File, Files, Judgement, Reason, Repair, RepairOptions, Verdict, judge, repair};

/// The batch, with an id for each item.
fn named() -> Vec<Value> {
    let mut records = batch();
    let prefixes = ["msg", "rs", "msg", "fc", "fc", "fco", "fco", "msg"];
    for (n, (record, prefix)) in records.iter_mut().zip(prefixes).enumerate() {
        record["id"] = json!(format!("{prefix}_{n}"));
    }
    records
}

/// The batch in a paginated rollout.
fn paginated(records: &[Value]) -> Files {
    let mut first = meta();
    first["payload"]["history_mode"] = json!("paginated");
    let records = std::iter::once(first).chain(records.iter().cloned().map(item));
    let lines = records.enumerate().map(|(ordinal, mut record)| {
        record["ordinal"] = json!(ordinal);
        format!("{record}\n")
    });
    Files {
        files: vec![File {
            name: "rollout-1.jsonl".to_owned(),
            bytes: lines.collect::<String>().into_bytes(),
        }],
    }
}

fn judged(files: &Files) -> Judgement {
    judge(&open(files), None)
}

#[test]
fn every_item_is_sent_with_its_id_and_a_sound_rollout_is_unchanged() {
    for files in [files(&named()), paginated(&named())] {
        let judgement = judged(&files);
        assert_eq!(judgement.verdict, Verdict::Accepted);
        let request = judgement.request();
        let ids: Vec<&str> =
            request["input"].as_array().unwrap().iter().filter_map(|item| item["id"].as_str()).collect();
        assert_eq!(ids, ["msg_0", "rs_1", "msg_2", "fc_3", "fc_4", "fco_5", "fco_6", "msg_7"]);
        assert!(matches!(repair(&files, 0, &RepairOptions::default()), Ok(Repair::Healthy(_))));
    }
}

#[test]
fn the_second_copy_of_an_item_is_rejected_and_removed() {
    let reasons = [(0, Reason::DuplicateMessage), (1, Reason::DuplicateThought), (6, Reason::Duplicate)];
    for (n, reason) in reasons {
        let mut twice = named();
        twice.insert(n + 1, twice[n].clone());
        for is_paginated in [false, true] {
            let stored = |records: &[Value]| if is_paginated { paginated(records) } else { files(records) };
            let (files, whole) = (stored(&twice), stored(&named()));
            let refused = vec!["openai-responses/item-duplicate".to_owned()];
            assert_eq!(verdict(&open(&files)), (Verdict::Refused, refused), "{n}");
            let options = RepairOptions::default();
            let Ok(Repair::Mended(mended)) = repair(&files, 0, &options) else { panic!("{n} is mended") };
            assert_eq!(mended.edits.iter().map(|edit| edit.reason).collect::<Vec<_>>(), [reason]);
            assert_eq!(sent(&open(&mended.files)), sent(&open(&whole)));
            assert!(matches!(repair(&mended.files, 0, &options), Ok(Repair::Healthy(_))));
            assert!(is_paginated || text(&mended.files) == text(&whole));
        }
    }
}

/// Without `store`, the provider takes a message of the model twice.
#[test]
fn a_message_of_the_model_may_be_sent_twice() {
    for n in [2, 7] {
        let mut twice = named();
        twice.insert(n + 1, twice[n].clone());
        assert_eq!(verdict(&open(&files(&twice))), (Verdict::Accepted, vec![]), "{n}");
    }
}

#[test]
fn a_second_copy_of_only_the_outputs_is_rejected_and_removed() {
    let mut twice = named();
    for n in [5, 6] {
        twice.insert(n + 2, twice[n].clone());
    }
    let files = files(&twice);
    assert_eq!(judged(&files).verdict, Verdict::Refused);
    let Ok(Repair::Mended(mended)) = repair(&files, 0, &RepairOptions::default()) else { panic!("mended") };
    assert_eq!(text(&mended.files), text(&self::files(&named())));
}

#[test]
fn text_with_another_id_is_another_item() {
    let mut records = named();
    let mut again = records[7].clone();
    again["id"] = json!("msg_8");
    records.push(again);
    let session = open(&files(&records));
    assert_eq!(verdict(&session), (Verdict::Accepted, vec![]));
    assert_eq!(session.messages.iter().filter(|message| message.role == Role::Assistant).count(), 3);
}

#[test]
fn two_different_items_with_one_id_are_not_repaired() {
    let mut records = named();
    let mut other = records[1].clone();
    other["encrypted_content"] = json!("gBBB");
    records.insert(2, other);
    let repaired = repair(&files(&records), 0, &RepairOptions::default());
    let Ok(Repair::Beyond(beyond)) = repaired else { panic!("{repaired:?}") };
    assert!(beyond.why.contains("item-duplicate"), "{}", beyond.why);
}

#[test]
fn instructions_and_two_part_texts_are_single_items_and_removed_completely() {
    let two_parts = |role: &str, id: &str| {
        let mut message = words(role, "<skills_instructions>one");
        message["id"] = json!(id);
        message["content"].as_array_mut().unwrap().push(json!({ "type": "input_text", "text": "and two" }));
        message
    };
    let mut records = named();
    records.insert(0, two_parts("developer", "msg_d"));
    records.insert(1, two_parts("user", "msg_u"));
    let stored =
        |records: &[Value], is_paginated| if is_paginated { paginated(records) } else { files(records) };
    for (n, is_paginated) in [(0, false), (0, true), (1, false), (1, true)] {
        let whole = stored(&records, is_paginated);
        let judgement = judged(&whole);
        assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
        let item = &judgement.request()["input"][n];
        assert_eq!((&item["role"], &item["id"]), (&records[n]["role"], &records[n]["id"]));
        assert_eq!(item["content"].as_array().unwrap().len(), 2);

        let mut twice = records.clone();
        twice.insert(n + 1, twice[n].clone());
        let files = stored(&twice, is_paginated);
        let refused = vec!["openai-responses/item-duplicate".to_owned()];
        assert_eq!(verdict(&open(&files)), (Verdict::Refused, refused), "{n}");
        let options = RepairOptions::default();
        let Ok(Repair::Mended(mended)) = repair(&files, 0, &options) else { panic!("{n} is mended") };
        let reasons: Vec<_> = mended.edits.iter().map(|edit| edit.reason).collect();
        assert_eq!(reasons, [Reason::DuplicateMessage]);
        assert_eq!(sent(&open(&mended.files)), sent(&open(&whole)));
        assert!(is_paginated || text(&mended.files) == text(&whole));
    }
}

#[test]
fn a_time_that_is_a_number_is_called_one() {
    let mut line = super::item(words("user", "a"));
    line["timestamp"] = json!(1.5);
    let session = open(&Files::one("rollout-1.jsonl", line.to_string()));
    assert!(session.troubles[0].words.contains("is a number"), "{:?}", session.troubles);
}

/// <https://github.com/openai/codex/issues/27928>, <https://github.com/openai/codex/issues/33176> and
/// <https://github.com/openai/codex/issues/9360>.
#[test]
fn ids_that_codex_made_up_are_left_out_of_messages_of_every_role_and_no_text_is_lost() {
    let made_up = |role: &str, id: &str| {
        let mut message = words(role, "Look at the review.");
        message["id"] = json!(id);
        message
    };
    let refused = [
        made_up("user", "review_rollout_user"),
        made_up("assistant", "review_rollout_assistant"),
        made_up("developer", "019f629b-43ee-7a82-acb1-3071dbffbdad"),
        made_up("user", "review:rollout:user"),
    ];
    for is_compacted in [false, true] {
        let all = [named().as_slice(), &refused].concat();
        let stored = match is_compacted {
            false => vec![files(&all), paginated(&all)],
            true => vec![super::files(&[super::record(
                "compacted",
                json!({ "message": "", "replacement_history": all }),
            )])],
        };
        for files in stored {
            let judgement = judged(&files);
            assert_eq!(judgement.refusals.len(), refused.len(), "{:?}", judgement.refusals);
            let repaired = repair(&files, 0, &RepairOptions::default());
            let Ok(Repair::Mended(fixed)) = repaired else { panic!("{is_compacted}: {repaired:?}") }; // quoted: the name of the variant
            assert!(fixed.edits.is_empty() && fixed.reshaped.len() == refused.len(), "{:?}", fixed.reshaped);
            let stripped = |files: &Files| {
                let mut request = judged(files).request();
                for item in request["input"].as_array_mut().unwrap() {
                    item.as_object_mut().unwrap().remove("id");
                }
                request
            };
            assert_eq!(stripped(&fixed.files), stripped(&files));
        }
    }
}
