use serde_json::{Value, json};

use crate::stores::list_tests::*;
use crate::{
    Edit, Files, Lost, NOT_RECORDED, Product, Reason, Repair, RepairOptions, Verdict, judge, read, repair,
};

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn call(id: &str) -> Value {
    json!({ "type": "tool-call", "toolCallId": id, "toolName": "weigh", "input": { "item": id } })
}

fn reply(parts: &[Value]) -> Value {
    json!({ "role": "assistant", "content": parts })
}

fn result(id: &str) -> Value {
    let output = json!({ "type": "text", "value": "3 g" });
    json!({ "type": "tool-result", "toolCallId": id, "toolName": "weigh", "output": output })
}

fn tools(parts: &[Value]) -> Value {
    json!({ "role": "tool", "content": parts })
}

fn thread(middle: &[Value]) -> Files {
    let messages: Vec<Value> = [vec![user("weigh")], middle.to_vec(), vec![user("and now?")]].concat();
    files(&Value::Array(messages))
}

fn healthy() -> Files {
    let text = json!({ "type": "text", "text": "Both." });
    thread(&[reply(&[text, call("c1"), call("c2")]), tools(&[result("c1"), result("c2")])])
}

#[test]
fn a_healthy_batch_is_accepted() {
    let files = healthy();
    let session = session(&files);
    assert_eq!((session.product, session.n_records), (Product::AiSdkModelMessages, 4));
    assert_eq!((verdict(&files), calls(&files).len(), results(&files).len()), (Verdict::Accepted, 2, 2));
}

#[test]
fn a_missing_result_makes_the_sdk_give_up_and_is_synthesised() {
    let files = thread(&[reply(&[call("c1"), call("c2")]), tools(&[result("c2")])]);
    assert_eq!(
        refusals(&files),
        [
            "AI_MissingToolResultsError: Tool result is missing for tool call c1. (AI SDK 6 and 7; AI SDK 5 sends the call without a result.)"
        ]
    );
    let after = written(&files, &[Edit::Synthesise { call: place(&files, "/1/content/0"), id: "c1".into() }]);
    assert_eq!((verdict(&after), session(&after).n_records), (Verdict::Accepted, 4));
    assert_eq!(results(&after)[1], ("c1".to_owned(), NOT_RECORDED.to_owned(), true));
    assert_eq!(difference(&files, &after).0, "");
}

#[test]
fn a_batch_without_results_gets_one_result_message() {
    let files = thread(&[reply(&[call("c1"), call("c2")])]);
    let synthesise = |n: usize| Edit::Synthesise {
        call: place(&files, &format!("/1/content/{n}")),
        id: format!("c{}", n + 1),
    };
    let after = written(&files, &[synthesise(0), synthesise(1)]);
    assert_eq!((verdict(&after), session(&after).n_records), (Verdict::Accepted, 4));
    assert!(String::from_utf8_lossy(after.main()).contains(r#""toolName":"weigh""#));
}

#[test]
fn a_result_without_its_call_is_reported_and_dropped_with_its_message() {
    let files = thread(&[tools(&[result("c1")]), reply(&[call("c2")]), tools(&[result("c2")])]);
    assert_eq!(refusals(&files), ["anthropic-messages/tool-result-orphan"]);
    let after = written(&files, &[Edit::Drop { block: place(&files, "/1/content/0") }]);
    assert_eq!((verdict(&after), session(&after).n_records), (Verdict::Accepted, 4));
}

#[test]
fn a_late_result_is_moved_to_its_call() {
    let files = thread(&[
        reply(&[call("c1"), call("c2")]),
        tools(&[result("c1")]),
        user("go on"),
        tools(&[result("c2")]),
    ]);
    assert_eq!(verdict(&files), Verdict::Refused);
    let (call, result) = (place(&files, "/1/content/1"), place(&files, "/4/content/0"));
    let after = written(&files, &[Edit::Move { result, call, id: "c2".into() }]);
    assert_eq!((verdict(&after), session(&after).n_records), (Verdict::Accepted, 5));
    let expected: Vec<String> = vec!["c1".into(), "c2".into()];
    assert_eq!(results(&after).into_iter().map(|(id, ..)| id).collect::<Vec<_>>(), expected);
    // Now that the result is there, nothing is left to move.
    let (call, result) = (place(&after, "/1/content/1"), place(&after, "/2/content/1"));
    assert_eq!(written(&after, &[Edit::Move { result, call, id: "c2".into() }]), after);
}

#[test]
fn all_results_of_a_message_can_change() {
    let files = thread(&[reply(&[call("c1")]), tools(&[result("c9")])]);
    let edits = [
        Edit::Drop { block: place(&files, "/2/content/0") },
        Edit::Synthesise { call: place(&files, "/1/content/0"), id: "c1".into() },
    ];
    let after = written(&files, &edits);
    assert_eq!((verdict(&after), results(&after).len()), (Verdict::Accepted, 1));
}

#[test]
fn the_sdk_misses_faults_that_the_provider_rejects() {
    let twice = thread(&[reply(&[call("c1")]), tools(&[result("c1"), result("c1")])]);
    assert_eq!(refusals(&twice), ["anthropic-messages/tool-result-duplicate"]);
    let after = written(&twice, &[Edit::Drop { block: place(&twice, "/2/content/1") }]);
    assert_eq!(verdict(&after), Verdict::Accepted);
    let same = thread(&[reply(&[call("c1"), call("c1")]), tools(&[result("c1")])]);
    assert_eq!(refusals(&same), ["anthropic-messages/tool-use-id-duplicate"]);
}

#[test]
fn every_kind_of_output_has_the_error_flag_of_the_provider() {
    let output = |output: Value| {
        let mut part = result("c1");
        part["output"] = output;
        let files = thread(&[reply(&[call("c1")]), tools(&[part])]);
        let (_, text, is_error) = results(&files).remove(0);
        (text, is_error)
    };
    assert_eq!(output(json!({ "type": "json", "value": { "a": 1 } })), (r#"{"a":1}"#.into(), false));
    assert_eq!(output(json!({ "type": "error-text", "value": "no" })), ("no".into(), true));
    assert_eq!(output(json!({ "type": "error-json", "value": 1 })), ("1".into(), true));
    let denied = output(json!({ "type": "execution-denied" }));
    assert_eq!(denied, ("Tool call execution denied.".into(), false));
    let content = json!({ "type": "content", "value": [{ "type": "text", "text": "a" }, { "type": "x" }] });
    assert_eq!(output(content), ("a".into(), false));
}

#[test]
fn a_call_that_waits_for_the_user_is_open_at_the_end() {
    let asks = json!({ "type": "tool-approval-request", "approvalId": "p", "toolCallId": "c1" });
    let messages = json!([user("weigh"), reply(&[call("c1"), asks])]);
    assert_eq!(verdict(&files(&messages)), Verdict::OpenTail);
    assert_eq!(verdict(&files(&json!([user("weigh"), reply(&[call("c1")])]))), Verdict::Refused);
}

#[test]
fn a_message_without_content_is_sent_and_rejected() {
    let files = thread(&[
        reply(&[call("c1")]),
        tools(&[result("c1")]),
        reply(&[json!({ "type": "text", "text": "" })]),
    ]);
    assert_eq!(verdict(&files), Verdict::Refused);
    let text = thread(&[
        reply(&[call("c1")]),
        tools(&[result("c1")]),
        reply(&[json!({ "type": "text", "text": "x" })]),
    ]);
    assert_eq!(verdict(&text), Verdict::Accepted);
}

#[test]
fn truncation_keeps_everything_before_the_message() {
    let files = healthy();
    let after = written(&files, &[Edit::Truncate { last: place(&files, "/2/content/0") }]);
    assert_eq!((session(&after).n_records, verdict(&after)), (3, Verdict::Accepted));
    let after = written(&files, &[Edit::Drop { block: place(&files, "/3/content") }]);
    assert_eq!(session(&after).n_records, 3);
}

#[test]
fn a_torn_file_reports_what_is_lost() {
    let whole = healthy();
    let at = String::from_utf8_lossy(whole.main()).find(r#""role": "tool""#).unwrap();
    let torn = Files::one("messages.json", &whole.main()[..at + 40]);
    let trouble = session(&torn).troubles[0].clone();
    assert_eq!(
        (verdict(&torn), trouble.loses),
        (Verdict::Refused, Some(Lost::Data("what is left of the torn last entry")))
    );
    let edits = [
        Edit::Discard { place: trouble.place },
        Edit::Synthesise { call: place(&torn, "/1/content/1"), id: "c1".into() },
        Edit::Synthesise { call: place(&torn, "/1/content/2"), id: "c2".into() },
    ];
    let after = written(&torn, &edits);
    assert_eq!((verdict(&after), session(&after).troubles.len()), (Verdict::Accepted, 0));
}

#[test]
fn old_forms_and_lists_of_other_products_are_not_judged() {
    let old = json!({ "type": "tool-call", "toolCallId": "c1", "toolName": "weigh", "args": {} });
    let error = read(&thread(&[reply(&[old])])).unwrap_err();
    assert_eq!(error.to_string(), "AI SDK model messages: /1/content/0 is a part of AI SDK 4");
    let anthropic = json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "c1", "name": "weigh", "input": {} }] });
    for other in [json!([user("hi")]), json!([user("hi"), anthropic]), json!([7]), json!(7)] {
        let found = read(&files(&other));
        assert!(!found.is_ok_and(|all| all[0].product == Product::AiSdkModelMessages), "{other}");
    }
}

#[test]
fn signatures_are_read_for_the_provider_that_signed() {
    let thought = json!({ "type": "reasoning", "text": "hm", "providerOptions": { "anthropic": { "signature": "s" } } });
    let files = thread(&[reply(&[thought, call("c1")]), tools(&[result("c1")])]);
    let judgement = judge(&session(&files), None);
    assert_eq!((judgement.verdict, judgement.is_assumed), (Verdict::Accepted, false));
    assert!(judgement.request().to_string().contains(r#""signature":"s""#));
}

#[test]
fn hostile_files_are_survived() {
    survive(&json!([user("a"), reply(&[call("c1")]), tools(&[result("c1")])]));
}

#[test]
fn declined_and_unapproved_calls_are_recorded_as_such() {
    let asks = json!({ "type": "tool-approval-request", "approvalId": "p", "toolCallId": "c1" });
    let answers =
        |approved: bool| json!({ "type": "tool-approval-response", "approvalId": "p", "approved": approved });
    let repaired = |middle: &[Value]| {
        let Ok(Repair::Mended(mended)) = repair(&thread(middle), 0, &RepairOptions::default()) else {
            panic!("{middle:?}")
        };
        let after: Value = serde_json::from_slice(mended.files.main()).unwrap();
        (mended.edits[0].reason, after[2]["content"][0]["output"].clone())
    };
    let asked = reply(&[call("c1"), asks]);
    let denied = repaired(&[asked.clone(), tools(&[answers(false)])]);
    assert_eq!(denied, (Reason::Declined, json!({ "type": "execution-denied" })));
    let error = |words: &str| json!({ "type": "error-text", "value": words });
    assert_eq!(repaired(std::slice::from_ref(&asked)), (Reason::NotApproved, error(crate::NOT_APPROVED)));
    let given = repaired(&[asked, tools(&[answers(true)])]);
    assert_eq!(given, (Reason::NotRecorded, error(NOT_RECORDED)));
}
