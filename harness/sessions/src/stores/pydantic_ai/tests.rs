use proptest::collection;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::stores::testing::{assert_unharmed, damaged, only, verdict};
use crate::{Edit, Files, Place, Product, ReadError, Session, Verdict, WriteError, judge, read, store_of};

fn request(parts: Value) -> Value {
    json!({ "parts": parts, "timestamp": "2026-02-01T08:00:00Z", "instructions": null, "kind": "request" })
}

fn response(parts: Value) -> Value {
    json!({
        "parts": parts,
        "timestamp": "2026-02-01T08:00:05Z",
        "model_name": "claude-sonnet-4-5",
        "provider_name": "anthropic",
        "kind": "response",
    })
}

fn prompt(text: &str) -> Value {
    json!({ "content": text, "part_kind": "user-prompt" })
}

fn call(id: &str) -> Value {
    json!({ "tool_name": "look", "args": "{\"at\": 1}", "tool_call_id": id, "part_kind": "tool-call" })
}

fn result(id: &str) -> Value {
    json!({ "tool_name": "look", "content": "seen", "tool_call_id": id, "part_kind": "tool-return" })
}

fn said(text: &str) -> Value {
    json!({ "content": text, "part_kind": "text" })
}

fn thinking() -> Value {
    json!({
        "content": "hm",
        "signature": "c2lnbmVk",
        "provider_name": "anthropic",
        "part_kind": "thinking",
    })
}

fn files(list: &[Value]) -> Files {
    Files::one("history.json", serde_json::to_vec(list).unwrap())
}

fn open(files: &Files) -> Session {
    only(Product::PydanticAi, files)
}

fn session(list: &[Value]) -> Session {
    open(&files(list))
}

/// The first block at a pointer.
fn at(session: &Session, pointer: &str) -> Place {
    let blocks = session.messages.iter().flat_map(|message| &message.blocks);
    blocks.map(|block| &block.place).find(|place| place.pointer == pointer).unwrap().clone()
}

fn write(files: &Files, edits: &[Edit]) -> Result<Files, WriteError> {
    store_of(Product::PydanticAi).unwrap().write(files, &open(files), edits)
}

fn list(files: &Files) -> Vec<Value> {
    serde_json::from_slice(files.main()).unwrap()
}

fn batch(results: Value) -> Vec<Value> {
    vec![
        request(json!([{ "content": "be brief", "part_kind": "system-prompt" }, prompt("look twice")])),
        response(json!([thinking(), said("I look."), call("c1"), call("c2")])),
        request(results),
        response(json!([said("both seen")])),
    ]
}

#[test]
fn a_parallel_batch_with_thinking_is_accepted() {
    let session = session(&batch(json!([result("c1"), result("c2")])));
    assert_eq!(verdict(&session), (Verdict::Accepted, vec![]));
    assert_eq!(session.model.as_deref(), Some("claude-sonnet-4-5"));
    assert!(!judge(&session, None).is_assumed);
    let places: std::collections::BTreeSet<_> =
        session.messages.iter().flat_map(|message| &message.blocks).map(|block| &block.place).collect();
    assert_eq!(places.len(), 9);
}

#[test]
fn a_place_is_the_byte_range_of_its_part() {
    let files = files(&batch(json!([result("c1"), result("c2")])));
    let place = at(&open(&files), "/1/parts/2");
    let stretch = &files.main()[place.start as usize..place.end as usize];
    assert_eq!(serde_json::from_slice::<Value>(stretch).unwrap(), call("c1"));
}

#[test]
fn a_missing_result_of_a_batch_is_refused() {
    let session = session(&batch(json!([result("c2")])));
    assert_eq!(
        verdict(&session),
        (Verdict::Refused, vec!["anthropic-messages/tool-result-missing".to_owned()])
    );
    assert_eq!(judge(&session, None).refusals[0].place, Some(at(&session, "/1/parts/2")));
}

#[test]
fn a_result_without_its_call_is_rejected() {
    let list = [
        request(json!([prompt("look")])),
        response(json!([said("ok")])),
        request(json!([
            { "content": "denied", "tool_name": "look", "tool_call_id": "c9", "part_kind": "retry-prompt" },
            prompt("next"),
        ])),
    ];
    let (verdict, reasons) = verdict(&session(&list));
    assert_eq!((verdict, reasons[0].as_str()), (Verdict::Refused, "anthropic-messages/tool-result-orphan"));
}

#[test]
fn a_duplicate_result_is_rejected() {
    let session = session(&batch(json!([result("c1"), result("c2"), result("c2")])));
    assert_eq!(verdict(&session).0, Verdict::Refused);
}

#[test]
fn a_prompt_after_open_calls_is_refused_by_the_library() {
    let list = [request(json!([prompt("look")])), response(json!([said("I look."), call("c1")]))];
    let session = session(&list);
    let (verdict, reasons) = verdict(&session);
    assert_eq!(verdict, Verdict::Refused);
    assert!(reasons[0].starts_with("UserError: Cannot provide a new user prompt"), "{reasons:?}");
    assert_eq!(judge(&session, None).refusals[0].place, Some(at(&session, "/1/parts/1")));
}

#[test]
fn an_empty_request_ends_the_response_before_it() {
    let list = [request(json!([prompt("look")])), response(json!([call("c1")])), request(json!([]))];
    let (verdict, reasons) = verdict(&session(&list));
    assert_eq!((verdict, reasons[0].as_str()), (Verdict::Refused, "anthropic-messages/tool-result-missing"));
}

#[test]
fn results_precede_texts_in_consecutive_requests() {
    let mut list = batch(json!([prompt("wait"), result("c1")]));
    list.insert(3, request(json!([result("c2")])));
    // Chat Completions allows only results between a call and its result. Anthropic's clients sort the
    // messages themselves.
    for n in [1, 4] {
        list[n]["provider_name"] = json!("openai");
    }
    let session = session(&list);
    let judgement = judge(&session, None);
    assert_eq!(judgement.verdict, Verdict::Accepted);
    assert_eq!(judgement.sent.mended[0], ("puts results before words in requests that follow each other", 1));
}

#[test]
fn responses_without_a_provider_are_joined() {
    let local = |parts: Value| json!({ "parts": parts, "kind": "response" });
    let list = [
        request(json!([prompt("look")])),
        local(json!([said("I look.")])),
        local(json!([call("c1")])),
        request(json!([result("c1")])),
    ];
    let session = session(&list);
    assert_eq!(session.messages.len(), 3);
    assert_eq!(judge(&session, None).verdict, Verdict::Accepted);
    assert!(judge(&session, None).is_assumed);
}

#[test]
fn thinking_of_another_provider_is_sent_as_text() {
    let foreign =
        json!({ "content": "hm", "signature": "x", "provider_name": "openai", "part_kind": "thinking" });
    let list = [request(json!([prompt("look")])), response(json!([foreign]))];
    let judgement = judge(&session(&list), None);
    assert_eq!(judgement.verdict, Verdict::Accepted);
    assert_eq!(judgement.request()["messages"][1]["content"][0]["text"], "<think>\nhm\n</think>");
}

#[test]
fn an_empty_text_is_left_out_and_a_blank_one_is_sent() {
    let with = |text: &str| session(&[request(json!([prompt("a")])), response(json!([said(text)]))]);
    assert_eq!(verdict(&with("")), (Verdict::Accepted, vec![]));
    assert_eq!(verdict(&with("\n")), (Verdict::Refused, vec!["anthropic-messages/text-blank".to_owned()]));
}

#[test]
fn an_empty_response_is_left_out() {
    let list = [request(json!([prompt("a")])), response(json!([])), request(json!([prompt("b")]))];
    let judgement = judge(&session(&list), None);
    assert_eq!(judgement.verdict, Verdict::Accepted);
    assert_eq!(judgement.sent.mended, [("leaves out empty texts and messages", 1)]);
}

#[test]
fn a_blank_result_is_a_string_and_accepted() {
    let blank =
        json!({ "tool_name": "look", "content": "\n", "tool_call_id": "c1", "part_kind": "tool-return" });
    assert_eq!(verdict(&session(&batch(json!([blank, result("c2")])))), (Verdict::Accepted, vec![]));
}

#[test]
fn truncated_arguments_stop_the_classes_that_need_an_object() {
    let cut =
        json!({ "tool_name": "look", "args": "{\"at\": ", "tool_call_id": "c1", "part_kind": "tool-call" });
    let mut list =
        vec![request(json!([prompt("look")])), response(json!([cut])), request(json!([result("c1")]))];
    let (verdict_of, reasons) = verdict(&session(&list));
    assert_eq!(verdict_of, Verdict::Refused);
    assert!(reasons[0].starts_with("ValueError"), "{reasons:?}");
    list[1]["provider_name"] = json!("openai");
    assert_eq!(verdict(&session(&list)).0, Verdict::Accepted);
}

#[test]
fn a_call_without_a_result_gets_one_and_nothing_else_changes() {
    let files = files(&batch(json!([result("c1"), prompt("and?")])));
    let session = open(&files);
    let edit = Edit::Synthesise { call: at(&session, "/1/parts/3"), id: "c2".to_owned() };
    let written = write(&files, std::slice::from_ref(&edit)).unwrap();
    assert_eq!(written, write(&files, &[edit]).unwrap());
    assert_eq!(verdict(&open(&written)), (Verdict::Accepted, vec![]));
    let parts = &list(&written)[2]["parts"];
    assert_eq!(parts[1]["content"], crate::NOT_RECORDED);
    assert_eq!(parts[1]["timestamp"], "2026-02-01T08:00:05Z");
    assert_eq!((&parts[0], &parts[2]), (&result("c1"), &prompt("and?")));
    let made = serde_json::to_string(&parts[1]).unwrap();
    let rest = String::from_utf8(written.main().to_vec()).unwrap().replace(&format!(",{made}"), "");
    assert_eq!(rest.as_bytes(), files.main());
}

#[test]
fn trailing_open_calls_get_one_request() {
    let list_of = [request(json!([prompt("look")])), response(json!([call("c1"), call("c2")]))];
    let files = files(&list_of);
    let session = open(&files);
    let edit = |n: usize| Edit::Synthesise {
        call: at(&session, &format!("/1/parts/{n}")),
        id: format!("c{}", n + 1),
    };
    let written = write(&files, &[edit(0), edit(1)]).unwrap();
    assert_eq!(list(&written).len(), 3);
    assert_eq!(verdict(&open(&written)), (Verdict::Accepted, vec![]));
    assert!(open(&written).messages[2].results().all(|result| result.is_error));
}

#[test]
fn a_late_result_is_moved_to_its_call() {
    let mut late = batch(json!([result("c1")]));
    late.push(request(json!([result("c2")])));
    let files = files(&late);
    let session = open(&files);
    assert_eq!(verdict(&session).0, Verdict::Refused);
    let edit = Edit::Move {
        result: at(&session, "/4/parts/0"),
        call: at(&session, "/1/parts/3"),
        id: "c2".to_owned(),
    };
    let written = write(&files, &[edit]).unwrap();
    assert_eq!(list(&written), batch(json!([result("c1"), result("c2")])));
    assert_eq!(verdict(&open(&written)), (Verdict::Accepted, vec![]));
}

#[test]
fn dropping_all_parts_drops_the_message() {
    let files = files(&batch(json!([result("c1"), result("c2"), result("c2")])));
    let session = open(&files);
    let drop = |pointer: &str| Edit::Drop { block: at(&session, pointer) };
    let written = write(&files, &[drop("/2/parts/2")]).unwrap();
    assert_eq!(list(&written), batch(json!([result("c1"), result("c2")])));
    let written = write(&files, &[drop("/2/parts/0"), drop("/2/parts/1"), drop("/2/parts/2")]).unwrap();
    assert_eq!(list(&written).len(), 3);
}

#[test]
fn one_text_of_a_prompt_can_be_dropped() {
    let list_of = [request(json!([{ "content": ["a", ""], "part_kind": "user-prompt" }]))];
    let files = files(&list_of);
    let session = open(&files);
    let written = write(&files, &[Edit::Drop { block: at(&session, "/0/parts/0/content/1") }]).unwrap();
    assert_eq!(list(&written)[0]["parts"][0]["content"], json!(["a"]));
}

#[test]
fn a_truncated_branch_ends_after_the_last_kept_message() {
    let mut list_of = batch(json!([result("c1"), result("c2"), prompt("go on")]));
    list_of.push(request(json!([prompt("b")])));
    let files = files(&list_of);
    let session = open(&files);
    let written = write(&files, &[Edit::Truncate { last: at(&session, "/2/parts/0") }]).unwrap();
    assert_eq!(list(&written), batch(json!([result("c1"), result("c2")]))[..3]);
    assert_eq!(verdict(&open(&written)), (Verdict::Accepted, vec![]));
}

#[test]
fn an_edit_of_a_missing_block_is_an_error() {
    let files = files(&batch(json!([result("c1"), result("c2")])));
    let place = Place::in_file(0..4, "/9/parts/0");
    let error = write(&files, &[Edit::Drop { block: place.clone() }]).unwrap_err();
    assert_eq!(error.to_string(), "pydantic-ai at /9/parts/0: no part of a message is there");
    assert!(write(&files, &[Edit::Discard { place }]).is_err());
}

#[test]
fn a_kind_of_part_unknown_to_1_x_is_not_judged() {
    let list = [request(json!([{ "content": "x", "part_kind": "instruction-delta" }]))];
    let error = read(&files(&list)).unwrap_err().to_string();
    assert_eq!(error, "pydantic-ai: a part of the kind instruction-delta, which 1.x does not have");
}

#[test]
fn other_lists_are_not_recognised() {
    for text in [
        "[]",
        "[{\"role\":\"user\",\"parts\":[]}]",
        "[{\"kind\":\"request\",\"parts\":[]}]",
        "[1",
        "{}",
        "",
        "[[[",
    ] {
        let read = read(&Files::one("history.json", text));
        assert!(matches!(read, Err(ReadError::Unknown)), "{text}");
    }
}

#[test]
fn wrong_types_are_read_without_a_panic() {
    let part = json!({ "part_kind": "tool-call", "args": [1], "tool_call_id": 7, "tool_name": null });
    let prompt = json!({ "part_kind": "user-prompt", "content": [null, 1, [], {}] });
    let list = [
        request(json!([prompt, { "part_kind": "tool-return" }])),
        response(json!([part])),
        request(json!([])),
    ];
    assert_eq!(verdict(&session(&list)).0, Verdict::Refused);
}

#[test]
fn a_long_history_with_many_edits_is_written_in_one_pass() {
    let n = 20_000;
    let calls: Vec<Value> = (0..n).map(|n| call(&format!("c{n}"))).collect();
    let results: Vec<Value> = (0..n).map(|n| result(&format!("c{n}"))).collect();
    let files = files(&[request(json!([prompt("a")])), response(json!(calls)), request(json!(results))]);
    let session = open(&files);
    let blocks = session.messages.iter().flat_map(|message| &message.blocks);
    let edits: Vec<Edit> = blocks.map(|block| Edit::Drop { block: block.place.clone() }).collect();
    assert_eq!(list(&write(&files, &edits).unwrap()).len(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Damaged bytes cause no panic, and written lists can be read again.
    #[test]
    fn damaged_bytes_are_read_judged_and_written_without_panic(
        damage in collection::vec((any::<usize>(), any::<u8>()), 0..4),
        cut in any::<usize>(),
    ) {
        let bytes = files(&batch(json!([result("c1"), result("c2")]))).files.remove(0).bytes;
        assert_unharmed(&Files::one("history.json", damaged(bytes, damage, cut)));
    }
}

/// The list in the 2.x form, in which each request has a state.
fn of_2(mut list: Vec<Value>, last: &str) -> Vec<Value> {
    let n_last = list.len() - 1;
    for (n, message) in list.iter_mut().enumerate().filter(|(_, message)| message["kind"] == "request") {
        message["state"] = json!(if n == n_last { last } else { "complete" });
    }
    list
}

#[test]
fn a_list_of_2_x_is_judged_by_the_send_model_of_2_x() {
    // A call without a result, followed by a reply. 1.x sends it unchanged.
    let mut list = batch(json!([result("c2")]));
    assert_eq!(verdict(&session(&list)).0, Verdict::Refused);
    let of = session(&of_2(list.clone(), "complete"));
    assert_eq!(verdict(&of).0, Verdict::Accepted);
    assert_eq!(judge(&of, None).sent.mended[0], ("fills calls without a result", 1));
    // The calls of the last response may still be answered, unless the last message was interrupted.
    list.pop();
    assert_eq!(verdict(&session(&of_2(list.clone(), "complete"))).0, Verdict::Refused);
    assert_eq!(verdict(&session(&of_2(list.clone(), "interrupted"))).0, Verdict::Accepted);
    // A result without a call is left out, but a duplicate result is not.
    let list = vec![request(json!([prompt("Look.")])), request(json!([result("c9"), prompt("Well?")]))];
    assert_eq!(verdict(&session(&list)).0, Verdict::Refused);
    assert_eq!(verdict(&session(&of_2(list, "complete"))).0, Verdict::Accepted);
    let list = batch(json!([result("c1"), result("c2"), result("c2")]));
    assert_eq!(verdict(&session(&of_2(list, "complete"))).0, Verdict::Refused);
}

#[test]
fn truncated_arguments_stop_1_x_but_not_2_x() {
    let mut list = batch(json!([result("c1"), result("c2")]));
    list[1]["parts"][2]["args"] = json!("{\"at\": ");
    assert_eq!(verdict(&session(&list)).0, Verdict::Refused);
    assert_eq!(verdict(&session(&of_2(list, "complete"))).0, Verdict::Accepted);
}
