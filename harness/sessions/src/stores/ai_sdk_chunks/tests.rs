use serde_json::{Value, json};

use crate::stores::list_tests::*;
use crate::{Edit, Files, NOT_RECORDED, Product, Verdict, store_of};

fn call(id: &str) -> Vec<Value> {
    vec![
        json!({ "type": "tool-input-start", "toolCallId": id, "toolName": "weigh" }),
        json!({ "type": "tool-input-delta", "toolCallId": id, "inputTextDelta": "{}" }),
        json!({ "type": "tool-input-available", "toolCallId": id, "toolName": "weigh", "input": {} }),
    ]
}

fn output(id: &str) -> Vec<Value> {
    vec![json!({ "type": "tool-output-available", "toolCallId": id, "output": "3 g" })]
}

fn said(id: &str, text: &str) -> Vec<Value> {
    vec![
        json!({ "type": "text-start", "id": id }),
        json!({ "type": "text-delta", "id": id, "delta": text }),
        json!({ "type": "text-end", "id": id }),
    ]
}

fn stream(middle: &[Vec<Value>]) -> Files {
    let start = vec![json!({ "type": "start", "messageId": "a" }), json!({ "type": "start-step" })];
    let end = vec![json!({ "type": "finish-step" }), json!({ "type": "finish" })];
    files(&Value::Array([&[start], middle, &[end]].concat().concat()))
}

#[test]
fn a_healthy_stream_is_an_accepted_excerpt() {
    let step = vec![json!({ "type": "finish-step" }), json!({ "type": "start-step" })];
    let files = stream(&[
        said("t", "Both."),
        call("c1"),
        call("c2"),
        output("c2"),
        output("c1"),
        step,
        said("t", "Done."),
    ]);
    let session = session(&files);
    assert_eq!((session.product, session.messages.len()), (Product::AiSdkUiChunks, 3));
    assert_eq!((calls(&files), results(&files).len()), (vec!["c1".to_owned(), "c2".to_owned()], 2));
    assert_eq!(verdict(&files), Verdict::Excerpt);
}

#[test]
fn an_aborted_batch_is_rejected_and_repaired_by_a_synthetic_result() {
    let files = stream(&[call("c1"), call("c2"), output("c1"), vec![json!({ "type": "abort" })]]);
    assert_eq!(
        refusals(&files),
        [
            "AI_MissingToolResultsError: Tool result is missing for tool call c2. (AI SDK 6 and 7; AI SDK 5 sends the call without a result.)"
        ]
    );
    let after = written(&files, &[Edit::Synthesise { call: place(&files, "/5"), id: "c2".into() }]);
    assert_eq!((verdict(&after), difference(&files, &after).0), (Verdict::Excerpt, String::new()));
    assert_eq!(results(&after)[1], ("c2".to_owned(), NOT_RECORDED.to_owned(), true));
    let after = written(&files, &[Edit::Drop { block: place(&files, "/5") }]);
    assert_eq!((verdict(&after), calls(&after).len()), (Verdict::Excerpt, 1));
}

#[test]
fn an_input_after_its_output_opens_the_call_again() {
    let late = vec![call("c1")[0].clone(), output("c1")[0].clone(), call("c1")[2].clone()];
    assert_eq!(verdict(&stream(&[late])), Verdict::Refused);
}

#[test]
fn a_dynamic_input_after_a_static_start_makes_two_parts_but_an_error_one() {
    let mut chunks = call("c1");
    chunks[2]["dynamic"] = json!(true);
    let files = stream(&[chunks.clone(), output("c1")]);
    assert_eq!(calls(&files).len(), 2);
    chunks[2]["type"] = json!("tool-input-error");
    chunks[2]["errorText"] = json!("no such item");
    let files = stream(&[chunks]);
    assert_eq!((calls(&files).len(), results(&files)[0].1.as_str()), (1, "no such item"));
}

#[test]
fn a_chunk_without_its_start_ends_the_reading() {
    let files = stream(&[said("t", "hm"), output("c9"), call("c1")]);
    let session = session(&files);
    assert_eq!(session.troubles[0].words, "UIMessageStreamError: No tool invocation found for the tool call");
    assert_eq!((session.troubles[0].place.pointer.as_str(), calls(&files).len()), ("/5", 0));
}

#[test]
fn truncation_and_moves() {
    let files =
        stream(&[call("c1"), output("c1"), vec![json!({ "type": "start-step" })], said("t", "Done.")]);
    let after = written(&files, &[Edit::Truncate { last: place(&files, "/2") }]);
    assert_eq!((session(&after).messages.len(), verdict(&after)), (2, Verdict::Excerpt));
    let (call, result) = (place(&files, "/2"), place(&files, "/7"));
    let edit = Edit::Move { result, call, id: "c1".into() };
    assert!(store_of(Product::AiSdkUiChunks).unwrap().write(&files, &session(&files), &[edit]).is_err());
}

#[test]
fn hostile_files_are_survived() {
    let chunks = [vec![json!({ "type": "start-step" })], said("t", "x"), call("c1"), output("c1")].concat();
    survive(&Value::Array(chunks));
}

#[test]
fn an_unanswered_request_is_removed_and_a_declined_call_denied() {
    let asks = json!({ "type": "tool-approval-request", "toolCallId": "c1", "approvalId": "p" });
    let answers =
        |approved: bool| json!({ "type": "tool-approval-response", "approvalId": "p", "approved": approved });
    let synthesised = |chunks: &[Value]| {
        let files = stream(&[call("c1"), chunks.to_vec()]);
        let after = written(&files, &[Edit::Synthesise { call: place(&files, "/2"), id: "c1".into() }]);
        let list: Vec<Value> = serde_json::from_slice(after.main()).unwrap();
        (list[5..list.len() - 2].to_vec(), results(&after)[0].1.clone())
    };
    let error = |words: &str| json!({ "type": "tool-output-error", "toolCallId": "c1", "errorText": words });
    let (chunks, said) = synthesised(std::slice::from_ref(&asks));
    assert_eq!((chunks, said.as_str()), (vec![error(crate::NOT_APPROVED)], crate::NOT_APPROVED));
    let (chunks, _) = synthesised(&[asks.clone(), answers(true)]);
    assert_eq!(chunks, [asks.clone(), answers(true), error(NOT_RECORDED)]);
    let (chunks, said) = synthesised(&[asks.clone(), answers(false)]);
    let denied = json!({ "type": "tool-output-denied", "toolCallId": "c1" });
    assert_eq!((chunks, said.as_str()), (vec![asks, answers(false), denied], "Tool call execution denied."));
}
