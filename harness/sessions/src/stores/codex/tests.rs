mod own_ids;
mod paginated;
mod provider;

use proptest::collection;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::unpack::pack;
use crate::stores::testing::{assert_unharmed, damaged, only, verdict};
use crate::{
    Edit, Files, Place, Product, Repair, RepairOptions, Session, Verdict, WriteError, judge, read, repair,
    store_of,
};

fn record(kind: &str, payload: Value) -> Value {
    json!({ "timestamp": "2026-02-01T08:00:00.000Z", "type": kind, "payload": payload })
}

fn item(payload: Value) -> Value {
    record("response_item", payload)
}

fn meta() -> Value {
    record(
        "session_meta",
        json!({ "id": "t1", "timestamp": "2026-02-01", "cwd": "/w", "cli_version": "0.98.0" }),
    )
}

fn words(role: &str, text: &str) -> Value {
    let kind = if role == "assistant" { "output_text" } else { "input_text" };
    json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] })
}

fn call(id: &str) -> Value {
    json!({ "type": "function_call", "name": "shell", "arguments": "{}", "call_id": id })
}

fn output(id: &str, text: &str) -> Value {
    json!({ "type": "function_call_output", "call_id": id, "output": text })
}

fn reasoning() -> Value {
    json!({ "type": "reasoning", "summary": [], "content": null, "encrypted_content": "gAAA" })
}

fn rollback(n: u64) -> Value {
    record("event_msg", json!({ "type": "thread_rolled_back", "num_turns": n }))
}

/// The bytes of a rollout: a `session_meta`, then items and other records.
fn files(records: &[Value]) -> Files {
    let mut text = format!("{}\n", meta());
    for value in records {
        let is_record = value.get("payload").is_some();
        let value = if is_record { value.clone() } else { item(value.clone()) };
        text.push_str(&format!("{value}\n"));
    }
    Files::one("rollout-1.jsonl", text)
}

fn open(files: &Files) -> Session {
    only(Product::Codex, files)
}

fn session(records: &[Value]) -> Session {
    open(&files(records))
}

/// The place of the block on a line, at a pointer.
fn at(session: &Session, line: u64, pointer: &str) -> Place {
    let messages = session.messages.iter().chain(&session.off_branch);
    let mut places = messages.flat_map(|message| &message.blocks).map(|block| &block.place);
    places.find(|place| place.line == Some(line) && place.pointer == pointer).unwrap().clone()
}

fn write(files: &Files, edits: &[Edit]) -> Result<Files, WriteError> {
    store_of(Product::Codex).unwrap().write(files, &open(files), edits)
}

fn text(files: &Files) -> &str {
    std::str::from_utf8(files.main()).unwrap()
}

/// The texts and ids of the sent items, in order.
fn sent(session: &Session) -> Vec<String> {
    let body = judge(session, None).request();
    let say = |item: &Value| match item["type"].as_str().unwrap_or_default() {
        "message" => item["content"][0]["text"].as_str().unwrap_or_default().to_owned(),
        kind => format!("{kind} {}", item["call_id"].as_str().unwrap_or_default()).trim().to_owned(),
    };
    body["input"].as_array().unwrap().iter().map(say).collect()
}

fn batch() -> Vec<Value> {
    vec![
        words("user", "look twice"),
        reasoning(),
        words("assistant", "I look."),
        call("c1"),
        call("c2"),
        output("c1", "seen"),
        output("c2", "seen too"),
        words("assistant", "done"),
    ]
}

#[test]
fn a_parallel_batch_with_reasoning_is_accepted() {
    let session = session(&batch());
    assert_eq!(verdict(&session), (Verdict::Accepted, vec![]));
    assert_eq!((session.id.as_deref(), session.version.as_deref()), (Some("t1"), Some("0.98.0")));
    assert_eq!(session.messages.len(), 4);
    assert!(judge(&session, None).sent.mended.is_empty());
}

#[test]
fn a_place_is_the_byte_range_of_its_item() {
    let files = files(&batch());
    let place = at(&open(&files), 5, "/payload");
    let stretch = &files.main()[place.start as usize..place.end as usize];
    assert_eq!(serde_json::from_slice::<Value>(stretch).unwrap(), call("c1"));
}

#[test]
fn a_missing_output_is_answered_right_after_its_call() {
    let mut records = batch();
    records.remove(5);
    let session = session(&records);
    let judgement = judge(&session, None);
    assert_eq!(judgement.verdict, Verdict::Accepted);
    assert_eq!(judgement.sent.mended, [("answers calls without an output with `aborted`", 1)]);
    let expected =
        ["function_call c1", "function_call_output c1", "function_call c2", "function_call_output c2"];
    assert_eq!(sent(&session)[3..7], expected);
}

#[test]
fn an_output_without_its_call_is_left_out() {
    let mut records = batch();
    records.remove(3);
    let judgement = judge(&session(&records), None);
    assert_eq!(judgement.verdict, Verdict::Accepted);
    assert_eq!(judgement.sent.mended, [("leaves out outputs without a call", 1)]);
}

#[test]
fn an_output_before_its_call_is_sent_in_that_order() {
    let session = session(&[words("user", "a"), output("c1", "seen"), call("c1")]);
    assert!(judge(&session, None).sent.mended.is_empty());
    assert_eq!(sent(&session), ["a", "function_call_output c1", "function_call c1", "Go on."]);
    // Codex changes nothing here, and the judge accepts it, since no rejection because of the order is known.
    assert_eq!(verdict(&session), (Verdict::Accepted, vec![]));
}

#[test]
fn the_id_of_another_provider_is_refused() {
    let mut records = batch();
    records[3]["id"] = json!("call_1");
    let session = session(&records);
    assert_eq!(verdict(&session), (Verdict::Refused, vec!["openai-responses/item-id-form".to_owned()]));
    assert_eq!(judge(&session, None).refusals[0].place, Some(at(&session, 5, "/payload")));
}

#[test]
fn reasoning_with_an_id_but_no_following_item_is_rejected() {
    let mut alone = reasoning();
    alone["id"] = json!("rs_1");
    let session = session(&[words("user", "a"), alone, words("user", "b")]);
    assert_eq!(
        verdict(&session),
        (Verdict::Refused, vec!["openai-responses/reasoning-without-item".to_owned()])
    );
}

#[test]
fn a_duplicate_line_is_rejected_for_the_id_of_its_item() {
    let mut records = batch();
    records[3]["id"] = json!("fc_1");
    records.insert(4, records[3].clone());
    assert_eq!(
        verdict(&session(&records)),
        (Verdict::Refused, vec!["openai-responses/item-duplicate".to_owned()])
    );
}

#[test]
fn a_second_output_is_sent_and_accepted() {
    let mut records = batch();
    records.insert(7, output("c2", "seen too"));
    let session = session(&records);
    assert!(judge(&session, None).sent.mended.is_empty());
    assert_eq!(sent(&session)[6..8], ["function_call_output c2", "function_call_output c2"]);
    assert_eq!(verdict(&session), (Verdict::Accepted, vec![]));
}

#[test]
fn a_trailing_open_call_is_not_a_defect() {
    let session = session(&[words("user", "a"), call("c1"), call("c2"), output("c2", "seen")]);
    assert_eq!(verdict(&session).0, Verdict::OpenTail);
}

#[test]
fn tools_of_other_kinds_are_paired_separately() {
    let custom =
        json!({ "type": "custom_tool_call", "call_id": "c1", "name": "apply_patch", "input": "*** Begin" });
    let query = json!({ "query": "x" });
    let search =
        json!({ "type": "tool_search_call", "call_id": "c2", "execution": "client", "arguments": query });
    let records = [
        words("user", "a"),
        custom.clone(),
        output("c1", "of a function"),
        search.clone(),
        words("user", "b"),
    ];
    let session = session(&records);
    let judgement = judge(&session, None);
    assert_eq!(judgement.verdict, Verdict::Accepted);
    let expected = [
        ("answers calls without an output with `aborted`", 1),
        ("answers tool searches without an output as completed, with no tools", 1),
        ("leaves out outputs without a call", 1),
    ];
    assert_eq!(judgement.sent.mended, expected);
    assert_eq!((&judgement.request()["input"][1], &judgement.request()["input"][3]), (&custom, &search));
    assert_eq!(judgement.request()["input"][2]["output"], "aborted");
}

#[test]
fn a_local_shell_is_answered_by_a_function_output() {
    let shell = json!({
        "type": "local_shell_call",
        "call_id": "c1",
        "status": "completed",
        "action": { "type": "exec", "command": ["ls"] },
    });
    let session = session(&[words("user", "a"), shell, output("c1", "seen"), words("assistant", "b")]);
    assert!(judge(&session, None).sent.mended.is_empty());
    assert_eq!(sent(&session)[1..3], ["local_shell_call c1", "function_call_output c1"]);
}

#[test]
fn a_replacement_replaces_everything_before_it() {
    let mut records = vec![words("user", "old"), call("c0")];
    let replacement = json!([words("user", "kept"), words("user", "summary"), call("c1"), output("c1", "x")]);
    records.push(record("compacted", json!({ "message": "summary", "replacement_history": replacement })));
    records.push(words("user", "new"));
    let session = session(&records);
    assert_eq!(session.n_compactions, 1);
    assert_eq!(sent(&session), ["kept", "summary", "function_call c1", "function_call_output c1", "new"]);
    assert_eq!(session.off_branch.len(), 2);
    assert_eq!(verdict(&session), (Verdict::Accepted, vec![]));
}

#[test]
fn an_old_compaction_keeps_user_messages_and_the_summary() {
    let mut records = batch();
    records.insert(0, words("user", "<environment_context>x</environment_context>"));
    records.push(record("compacted", json!({ "message": "in short" })));
    records.push(words("user", "new"));
    assert_eq!(sent(&session(&records)), ["look twice", "in short", "new"]);
}

#[test]
fn rolled_back_turns_are_off_the_branch() {
    let records = [
        words("user", "a"),
        words("assistant", "b"),
        words("user", "<environment_context>x</environment_context>"),
        words("user", "c"),
        call("c1"),
        words("user", "d"),
        rollback(2),
        words("user", "e"),
    ];
    let session = session(&records);
    assert_eq!(sent(&session), ["a", "b", "e"]);
    assert_eq!((session.n_forks, session.off_branch.len()), (1, 4));
}

#[test]
fn more_rollbacks_than_turns_keep_the_items_before_the_first() {
    let records = [words("user", "<skill>x</skill>"), words("user", "a"), rollback(9), words("user", "b")];
    assert_eq!(sent(&session(&records)), ["<skill>x</skill>", "b"]);
    assert_eq!(sent(&session(&[words("user", "a"), rollback(0)])), ["a"]);
}

#[test]
fn a_torn_line_and_nul_bytes_are_troubles_and_the_rest_is_read() {
    let mut files = files(&batch());
    let half = format!("{}", item(call("c9")));
    files.files[0].bytes.extend(&half.as_bytes()[..40]);
    let session = open(&files);
    assert_eq!(session.troubles.len(), 1);
    assert_eq!(session.troubles[0].words, "a torn line: it ends before its JSON does");
    assert_eq!(verdict(&session).0, Verdict::Accepted);
    let edit = Edit::Discard { place: session.troubles[0].place.clone() };
    let written = write(&files, &[edit]).unwrap();
    assert_eq!(written.main(), self::files(&batch()).main());

    files.files[0].bytes.truncate(written.main().len());
    files.files[0].bytes.extend([0; 16]);
    assert_eq!(open(&files).troubles[0].words, "16 NUL bytes");
}

#[test]
fn adjacent_calls_are_a_batch() {
    let one = |id: &str| [call(id), output(id, "seen")];
    let side_by_side = [call("c1"), call("c2"), output("c1", "seen"), output("c2", "seen")];
    assert_eq!(open(&files(&side_by_side)).n_batches(), 1);
    assert_eq!(open(&files(&[one("c1"), one("c2")].concat())).n_batches(), 0);
}

#[test]
fn a_fork_that_refers_to_its_parent_is_an_excerpt() {
    let mut first = meta();
    first["payload"]["history_mode"] = json!("paginated");
    let of = |first: &Value| {
        let second = json!({ "ordinal": 61, "timestamp": "2026-11-25", "type": "response_item",
            "payload": words("user", "Look from here.") });
        open(&Files::one("rollout-2.jsonl", format!("{first}\n{second}\n")))
    };
    assert!(!of(&first).is_excerpt);
    first["payload"]["history_base"] = json!({ "thread_id": "t0", "end_ordinal_exclusive": 59 });
    let fork = of(&first);
    assert!(fork.is_excerpt);
    assert_eq!(judge(&fork, None).verdict, Verdict::Excerpt);
}

#[test]
fn a_file_that_begins_in_the_middle_is_an_excerpt() {
    let files = files(&[output("c1", "seen"), words("user", "a")]);
    let first = files.main().iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let session = open(&Files::one("part.jsonl", &files.main()[first..]));
    assert_eq!(verdict(&session).0, Verdict::Excerpt);
}

#[test]
fn ordinals_out_of_order_are_reported() {
    let with = |mut record: Value, ordinal: u64| {
        record["ordinal"] = json!(ordinal);
        record
    };
    let mut first = with(meta(), 0);
    first["payload"]["history_mode"] = json!("paginated");
    let lines = [
        first,
        with(item(words("user", "a")), 1),
        with(item(words("user", "b")), 1),
        item(words("user", "c")),
    ];
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    let files = Files::one("rollout-1.jsonl", text.join("\n"));
    let session = open(&files);
    let words: Vec<&str> = session.troubles.iter().map(|trouble| trouble.words.as_str()).collect();
    assert_eq!(words[0], "the ordinal is not greater than that of the record before");
    assert_eq!(words[1], "the last record has no ordinal, so Codex cannot continue the rollout");
    let judgement = judge(&session, None);
    assert_eq!((judgement.verdict, judgement.refusals[0].rule), (Verdict::Refused, None));
    let Ok(Repair::Mended(fixed)) = repair(&files, 0, &RepairOptions::default()) else { panic!("fixed") }; // quoted: the name of the variant
    let ordinals: Vec<Option<u64>> = text_of(&fixed.files).lines().map(ordinal).collect();
    assert_eq!(ordinals, [0, 1, 2, 3].map(Some));
    assert!(matches!(repair(&fixed.files, 0, &RepairOptions::default()), Ok(Repair::Healthy(_))));
    let edit = Edit::Truncate { last: at(&session, 2, "/payload/content/0") };
    assert!(write(&files, &[edit]).unwrap_err().to_string().contains("would move"));
}

fn text_of(files: &Files) -> String {
    String::from_utf8(files.main().to_vec()).unwrap()
}

fn ordinal(line: &str) -> Option<u64> {
    serde_json::from_str::<Value>(line).unwrap()["ordinal"].as_u64()
}

#[test]
fn a_refusal_that_codex_recorded_names_its_rule() {
    let error = |words: &str| record("event_msg", json!({ "type": "error", "message": words }));
    let words = "Duplicate item found with id rs_1. Remove duplicate items from your input and try again.";
    let asked = [self::words("user", "a"), reasoning(), self::words("assistant", "b"), error(words)];
    let judgement = judge(&session(&asked), None);
    assert_eq!(judgement.recorded.map(|own| own.rule.id), Some("openai-responses/item-duplicate"));
    let later = [asked.as_slice(), &[self::words("assistant", "c")]].concat();
    assert_eq!(judge(&session(&later), None).recorded, None);
}

#[test]
fn an_item_of_an_unknown_type_is_not_judged_and_an_unknown_record_is_noted() {
    let error = read(&files(&[json!({ "type": "telepathy" })])).unwrap_err();
    assert_eq!(error.to_string(), "codex: an item of the type telepathy in line 2".replace("codex", "Codex"));
    let session = session(&[record("new_thing", json!({})), words("user", "a")]);
    assert_eq!(session.unknown, ["new_thing"]);
}

#[test]
fn an_item_that_codex_cannot_read_is_a_trouble() {
    let session =
        session(&[words("user", "a"), json!({ "type": "function_call", "name": "x", "arguments": "{}" })]);
    assert!(session.troubles[0].words.starts_with("a call or an output without its call_id"));
    assert_eq!(verdict(&session).0, Verdict::Accepted);
}

#[test]
fn a_synthesised_output_gets_its_own_line() {
    let mut records = batch();
    records.remove(5);
    let files = files(&records);
    let session = open(&files);
    let edit = Edit::Synthesise { call: at(&session, 5, "/payload"), id: "c1".to_owned() };
    let written = write(&files, std::slice::from_ref(&edit)).unwrap();
    assert_eq!(written, write(&files, &[edit]).unwrap());
    let made: Value = serde_json::from_str(text(&written).lines().nth(5).unwrap()).unwrap();
    assert_eq!(made, item(output("c1", crate::NOT_RECORDED)));
    let others: Vec<&str> =
        text(&written).lines().enumerate().filter(|(n, _)| *n != 5).map(|(_, line)| line).collect();
    assert_eq!(others, text(&files).lines().collect::<Vec<_>>());
    assert!(judge(&open(&written), None).sent.mended.is_empty());
}

#[test]
fn an_output_before_its_call_is_moved_after_it() {
    let files = files(&[words("user", "a"), output("c1", "seen"), call("c1"), words("assistant", "b")]);
    let session = open(&files);
    let (result, call_at) = (at(&session, 3, "/payload"), at(&session, 4, "/payload"));
    let written = write(&files, &[Edit::Move { result, call: call_at, id: "c1".to_owned() }]).unwrap();
    let expected =
        self::files(&[words("user", "a"), call("c1"), output("c1", "seen"), words("assistant", "b")]);
    assert_eq!(text(&written), text(&expected));
    assert_eq!(verdict(&open(&written)), (Verdict::Accepted, vec![]));
}

#[test]
fn an_output_before_a_compaction_is_copied_into_its_replacement() {
    let replacement = json!([words("user", "kept"), call("c1")]);
    let records = [
        words("user", "a"),
        call("c1"),
        output("c1", "seen"),
        record("compacted", json!({ "message": "", "replacement_history": replacement })),
        words("user", "new"),
    ];
    let files = files(&records);
    let session = open(&files);
    let call_at = at(&session, 5, "/payload/replacement_history/1");
    let result = at(&session, 4, "/payload");
    let written = write(&files, &[Edit::Move { result, call: call_at, id: "c1".to_owned() }]).unwrap();
    assert!(judge(&open(&written), None).sent.mended.is_empty());
    assert_eq!(sent(&open(&written)), ["kept", "function_call c1", "function_call_output c1", "new"]);
    assert_eq!(text(&written).lines().nth(3), text(&files).lines().nth(3));
}

#[test]
fn the_second_of_two_outputs_is_dropped_with_its_line() {
    let mut records = batch();
    records.insert(7, output("c2", "seen too"));
    let files = files(&records);
    let written = write(&files, &[Edit::Drop { block: at(&open(&files), 9, "/payload") }]).unwrap();
    assert_eq!(text(&written), text(&self::files(&batch())));
}

#[test]
fn dropping_the_last_part_of_a_message_drops_its_item() {
    let two = json!({ "type": "message", "role": "user", "content": [
        { "type": "input_text", "text": "a" },
        { "type": "input_text", "text": " " },
    ] });
    let replacement = json!([two, words("user", "c")]);
    let compacted = record("compacted", json!({ "message": "", "replacement_history": replacement }));
    let files = files(&[compacted, two.clone(), words("user", "d")]);
    let session = open(&files);
    let drop = |line: u64, pointer: &str| Edit::Drop { block: at(&session, line, pointer) };
    let edits = [
        drop(2, "/payload/replacement_history/0/content/0"),
        drop(2, "/payload/replacement_history/0/content/1"),
        drop(3, "/payload/content/1"),
        drop(4, "/payload/content/0"),
    ];
    let written = write(&files, &edits).unwrap();
    assert_eq!(sent(&open(&written))[..2], ["c", "a"]);
    assert_eq!(text(&written).lines().count(), 3);
}

#[test]
fn a_truncated_branch_ends_after_the_last_kept_message() {
    let replacement = json!([words("user", "kept"), words("assistant", "b"), words("user", "c")]);
    let compacted = record("compacted", json!({ "message": "", "replacement_history": replacement }));
    let files = files(&[words("user", "a"), compacted, words("user", "d"), rollback(1)]);
    let session = open(&files);
    let last = at(&session, 3, "/payload/replacement_history/1/content/0");
    let written = write(&files, &[Edit::Truncate { last }]).unwrap();
    assert_eq!(sent(&open(&written))[..2], ["kept", "b"]);
    assert_eq!(text(&written).lines().count(), 3);
}

#[test]
fn a_branch_cannot_end_before_an_old_compaction() {
    let files = files(&[words("user", "a"), record("compacted", json!({ "message": "in short" }))]);
    let session = open(&files);
    let last = at(&session, 2, "/payload/content/0");
    assert!(write(&files, &[Edit::Truncate { last }]).is_err());
}

#[test]
fn a_packed_rollout_is_read_and_packed_again() {
    let mut records = batch();
    records.remove(5);
    let plain = files(&records);
    let packed = Files::one("rollout-1.jsonl.zst", pack(plain.main()));
    let session = open(&packed);
    assert_eq!(session, open(&plain));
    let edit = [Edit::Synthesise { call: at(&session, 5, "/payload"), id: "c1".to_owned() }];
    let written = write(&packed, &edit).unwrap();
    assert_eq!(open(&written), open(&write(&plain, &edit).unwrap()));
    assert!(written.main().starts_with(&packed.main()[..4]));
}

#[test]
fn truncated_packed_bytes_are_a_trouble() {
    let mut packed = pack(files(&batch()).main());
    packed.extend(pack(files(&batch()).main()));
    packed.truncate(packed.len() - 20);
    let files = Files::one("rollout-1.jsonl.zst", packed);
    let session = open(&files);
    let trouble = session.troubles.last().unwrap();
    assert_eq!(trouble.words, "the packed bytes are cut off or damaged");
    let written = write(&files, &[Edit::Discard { place: trouble.place.clone() }]).unwrap();
    assert!(open(&written).troubles.is_empty());
}

#[test]
fn a_decompression_bomb_is_not_unpacked() {
    let mut bytes = files(&batch()).main().to_vec();
    bytes.extend(vec![b' '; 8 << 20]);
    let packed = pack(&bytes);
    assert!(packed.len() < 4_000, "{}", packed.len());
    let error = read(&Files::one("rollout-1.jsonl.zst", packed)).unwrap_err().to_string();
    assert!(error.contains("exceed") && error.contains("when unpacked"), "{error}");
}

#[test]
fn other_files_are_not_recognised() {
    let is_rollout = |files: Files| store_of(Product::Codex).unwrap().recognises(&files);
    let event = json!({ "type": "session.start", "id": "1", "timestamp": "t", "data": {} }).to_string();
    let bare = json!({ "type": "response_item", "payload": {} }).to_string();
    for text in ["", "{}", "[]", event.as_str(), bare.as_str(), "\u{28}\u{b5}"] {
        assert!(!is_rollout(Files::one("rollout-1.jsonl", text)), "{text}");
    }
    let bad = [0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3];
    assert!(!is_rollout(Files::one("rollout-1.jsonl.zst", bad)));
}

#[test]
fn wrong_types_are_read_without_a_panic() {
    let records = [
        json!({ "type": "message", "role": "user", "content": [1, null, {}, "x"] }),
        json!({ "type": "function_call", "call_id": "c", "name": 1, "arguments": {} }),
        json!({ "type": "function_call_output", "call_id": "c", "output": 7 }),
        json!({ "type": "reasoning", "id": [], "summary": 3 }),
        record("compacted", json!({ "message": 1, "replacement_history": 2 })),
        record("event_msg", json!({ "type": "thread_rolled_back", "num_turns": -1 })),
        record("turn_context", json!([])),
    ];
    judge(&session(&records), None);
}

#[test]
fn thousands_of_compactions_and_rollbacks_stop_at_the_limit() {
    let mut records: Vec<Value> = (0..3_000).map(|_| words("assistant", "")).collect();
    records.extend((0..4_000).map(|_| rollback(1)));
    let error = read(&files(&records)).unwrap_err().to_string();
    assert!(error.contains("more compactions and rollbacks"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Damaged bytes cause no panic, and written rollouts can be read again.
    #[test]
    fn damaged_bytes_are_read_judged_and_written_without_panic(
        damage in collection::vec((any::<usize>(), any::<u8>()), 0..4),
        cut in any::<usize>(),
    ) {
        let bytes = {
            let compacted = json!({ "message": "", "replacement_history": batch() });
            let mut records = batch();
            records.push(record("compacted", compacted));
            records.extend(batch());
            files(&records).files.remove(0).bytes
        };
        assert_unharmed(&Files::one("rollout-1.jsonl", damaged(bytes, damage, cut)));
    }
}
