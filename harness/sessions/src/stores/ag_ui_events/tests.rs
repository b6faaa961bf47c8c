use serde_json::{Value, json};

use crate::stores::list_tests::*;
use crate::{Edit, Files, NOT_RECORDED, Product, Verdict, judge};

fn run(kind: &str) -> Value {
    json!({ "type": kind, "threadId": "t", "runId": "r" })
}

fn said(id: &str, role: &str, text: &str) -> Vec<Value> {
    vec![
        json!({ "type": "TEXT_MESSAGE_START", "messageId": id, "role": role }),
        json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": text }),
        json!({ "type": "TEXT_MESSAGE_END", "messageId": id }),
    ]
}

fn call(id: &str) -> Vec<Value> {
    vec![
        json!({ "type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": "weigh", "parentMessageId": "m" }),
        json!({ "type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": "{\"n\"" }),
        json!({ "type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": ":1}" }),
        json!({ "type": "TOOL_CALL_END", "toolCallId": id }),
    ]
}

fn result(id: &str) -> Vec<Value> {
    vec![
        json!({ "type": "TOOL_CALL_RESULT", "messageId": format!("r-{id}"), "toolCallId": id, "content": "3 g" }),
    ]
}

fn thread(middle: &[Vec<Value>]) -> Files {
    let ends = (vec![run("RUN_STARTED")], vec![run("RUN_FINISHED")]);
    files(&Value::Array([&[ends.0, said("u", "user", "weigh")], middle, &[ends.1]].concat().concat()))
}

#[test]
fn a_healthy_batch_is_accepted_wherever_its_results_are() {
    let middle = [
        said("m", "assistant", "Both."),
        call("c1"),
        call("c2"),
        result("c1"),
        said("n", "assistant", "hm"),
        result("c2"),
    ];
    let files = thread(&middle);
    let session = session(&files);
    assert_eq!((session.product, session.id.as_deref()), (Product::AgUiEvents, Some("t")));
    let ids: Vec<&str> = session.messages.iter().filter_map(|message| message.id.as_deref()).collect();
    assert_eq!(ids, ["u", "m", "r-c1", "r-c2", "n"]);
    assert_eq!(session.messages[1].calls().next().unwrap().arguments, r#"{"n":1}"#);
    assert_eq!(verdict(&files), Verdict::Accepted);
}

#[test]
fn a_missing_result_is_reported_at_its_call_and_synthesised_after_it() {
    let files = thread(&[call("c1"), call("c2"), result("c1")]);
    let judgement = judge(&session(&files), None);
    assert_eq!(judgement.refusals[0].rule.unwrap().id, "anthropic-messages/tool-result-missing");
    let place = judgement.refusals[0].place.clone().unwrap();
    assert_eq!(place.pointer, "/8");
    let after = written(&files, &[Edit::Synthesise { call: place, id: "c2".into() }]);
    assert_eq!(verdict(&after), Verdict::Accepted);
    assert_eq!(results(&after)[0], ("c2".to_owned(), NOT_RECORDED.to_owned(), false));
    assert_eq!(difference(&files, &after).0, "");
}

#[test]
fn a_call_that_never_ended_makes_the_client_give_up() {
    let open = call("c1")[..3].to_vec();
    let files = thread(&[open]);
    let words = "verifyEvents: Cannot send 'RUN_FINISHED' while tool calls are still active";
    assert_eq!(refusals(&files), [words]);
    let after = written(&files, &[Edit::Synthesise { call: place(&files, "/4"), id: "c1".into() }]);
    assert_eq!(verdict(&after), Verdict::Accepted);
    let after = written(&files, &[Edit::Drop { block: place(&files, "/4") }]);
    assert_eq!((verdict(&after), session(&after).n_records), (Verdict::Accepted, 5));
}

#[test]
fn events_out_of_order_make_the_client_give_up() {
    let started = run("RUN_STARTED");
    let cases = [
        (json!([said("m", "user", "x")[0]]), "First event must be 'RUN_STARTED'"),
        (json!([started, started]), "Cannot send 'RUN_STARTED' while a run is still active."),
        (
            json!([started, run("RUN_FINISHED"), said("m", "user", "x")[0]]),
            "Cannot send event type 'TEXT_MESSAGE_START': The run has already finished with 'RUN_FINISHED'.",
        ),
        (
            json!([started, run("RUN_ERROR"), run("RUN_FINISHED")]),
            "Cannot send event type 'RUN_FINISHED': The run has already errored with 'RUN_ERROR'.",
        ),
        (
            json!([started, call("c")[0], call("c")[0]]),
            "Cannot send 'TOOL_CALL_START' event: A tool call with that ID is already in progress.",
        ),
        (
            json!([started, said("m", "user", "x")[1]]),
            "Cannot send 'TEXT_MESSAGE_CONTENT' event: No active text message found with that ID.",
        ),
    ];
    for (events, words) in cases {
        assert_eq!(refusals(&files(&events)), [format!("verifyEvents: {words}")]);
    }
    let again = json!([started, run("RUN_ERROR"), started, run("RUN_FINISHED"), started]);
    assert_eq!(refusals(&files(&again)), Vec::<String>::new());
}

#[test]
fn a_snapshot_replaces_all_messages() {
    let assistant = json!({
        "id": "m",
        "role": "assistant",
        "toolCalls": [{ "id": "c1", "type": "function", "function": { "name": "weigh", "arguments": "{}" } }],
    });
    let messages = json!([{ "id": "u", "role": "user", "content": "weigh" }, assistant]);
    let snapshot = json!({ "type": "MESSAGES_SNAPSHOT", "messages": messages });
    let files = thread(&[said("gone", "assistant", "x"), vec![snapshot.clone()], result("c1")]);
    let ids: Vec<Option<String>> = session(&files).messages.into_iter().map(|message| message.id).collect();
    assert_eq!(ids, [Some("u".to_owned()), Some("m".to_owned()), Some("r-c1".to_owned())]);
    assert_eq!(verdict(&files), Verdict::Accepted);
    let open = thread(&[vec![snapshot]]);
    assert_eq!(refusals(&open), ["anthropic-messages/tool-result-missing"]);
    let call = place(&open, "/4/messages/1/toolCalls/0");
    let after = written(&open, &[Edit::Synthesise { call: call.clone(), id: "c1".into() }]);
    assert_eq!((verdict(&after), results(&after).len()), (Verdict::Accepted, 1));
    let after = written(&open, &[Edit::Drop { block: call }]);
    assert_eq!((verdict(&after), session(&after).messages.len()), (Verdict::Accepted, 1));
}

#[test]
fn chunks_are_read_like_the_events_they_replace() {
    let events = json!([
        run("RUN_STARTED"),
        { "type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "role": "assistant", "delta": "Bo" },
        { "type": "TEXT_MESSAGE_CHUNK", "delta": "th." },
        { "type": "TOOL_CALL_CHUNK", "toolCallId": "c1", "toolCallName": "weigh", "parentMessageId": "m", "delta": "{" },
        { "type": "TOOL_CALL_CHUNK", "delta": "}" },
        result("c1")[0],
        run("RUN_FINISHED"),
    ]);
    let body = judge(&session(&files(&events)), None).request().to_string();
    assert!(body.contains("Both.") && body.contains(r#""input":{}"#), "{body}");
}

#[test]
fn a_result_without_its_call_is_reported_and_can_be_dropped() {
    let files = thread(&[result("c9"), said("m", "assistant", "hm")]);
    assert_eq!(refusals(&files), ["anthropic-messages/tool-result-orphan"]);
    let after = written(&files, &[Edit::Drop { block: place(&files, "/4") }]);
    assert_eq!(verdict(&after), Verdict::Accepted);
}

#[test]
fn a_result_before_its_call_is_moved_after_it() {
    let files = thread(&[result("c1"), call("c1")]);
    assert_eq!(verdict(&files), Verdict::Refused);
    let (call, result) = (place(&files, "/5"), place(&files, "/4"));
    let after = written(&files, &[Edit::Move { result, call, id: "c1".into() }]);
    assert_eq!((verdict(&after), results(&after).len()), (Verdict::Accepted, 1));
}

#[test]
fn truncation_keeps_the_events_of_the_run() {
    let files = thread(&[call("c1"), result("c1"), said("n", "assistant", "Done.")]);
    let after = written(&files, &[Edit::Truncate { last: place(&files, "/8") }]);
    assert_eq!((session(&after).messages.len(), verdict(&after)), (3, Verdict::Accepted));
    assert!(String::from_utf8_lossy(after.main()).contains("RUN_FINISHED"));
}

#[test]
fn hostile_files_are_survived() {
    let snapshot =
        json!({ "type": "MESSAGES_SNAPSHOT", "messages": [{ "id": "u", "role": "user", "content": "x" }] });
    survive(&Value::Array([vec![run("RUN_STARTED")], call("c1"), result("c1"), vec![snapshot]].concat()));
    let many: Vec<Vec<Value>> = (0..5_000).map(|n| call(&format!("c{n}"))).collect();
    let files = thread(&many);
    let call = place(&files, "/4");
    assert_eq!(calls(&written(&files, &[Edit::Drop { block: call }])).len(), 4_999);
}
