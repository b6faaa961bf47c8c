use serde_json::{Value, json};

use crate::stores::list_tests::*;
use crate::{Edit, Files, NOT_RECORDED, Product, Verdict, judge, read, store_of};

fn message(id: &str, role: &str, minute: u32) -> Value {
    json!({ "id": id, "threadId": "t", "role": role, "status": "sent", "processedAt": format!("2026-01-01T08:{minute:02}") })
}

fn part(message: &str, order: u32, kind: &str, fields: Value) -> Value {
    let mut row =
        json!({ "id": order, "messageId": message, "orderIndex": order, "type": kind, "toolInput": null });
    for (key, value) in fields.as_object().unwrap() {
        row[key] = value.clone();
    }
    row
}

fn text(message: &str, order: u32, text: &str) -> Value {
    part(message, order, "text", json!({ "textContent": text }))
}

fn tool(order: u32, id: &str, state: &str) -> Value {
    let mut fields =
        json!({ "toolName": "weigh", "toolCallId": id, "state": state, "toolInput": { "item": id } });
    match state {
        "output-available" => fields["toolOutput"] = json!({ "grams": 3 }),
        "output-error" => fields["errorMessage"] = json!("no scales"),
        _ => {}
    }
    part("a", order, "tool-weigh", fields)
}

/// The row order differs from the message order.
fn thread(parts: &[Value]) -> Files {
    let parts = [parts, &[text("u2", 0, "and now?"), text("u1", 0, "weigh")]].concat();
    files(&json!({
        "agentChatThread": [{ "id": "t" }],
        "agentTurn": [],
        "agentMessage": [message("u2", "user", 3), message("a", "assistant", 2), message("u1", "user", 1)],
        "agentMessagePart": parts,
    }))
}

fn healthy() -> Vec<Value> {
    let step = |order| part("a", order, "step-start", json!({}));
    let calls = [tool(3, "c2", "output-error"), tool(2, "c1", "output-available")];
    [vec![step(0), text("a", 1, "Both.")], calls.to_vec(), vec![step(4), text("a", 5, "Done.")]].concat()
}

#[test]
fn rows_are_sent_by_their_time_and_order() {
    let files = thread(&healthy());
    let session = session(&files);
    assert_eq!((session.product, session.id.as_deref(), session.n_records), (Product::Twenty, Some("t"), 11));
    let roles: Vec<String> = session.messages.iter().map(|message| format!("{:?}", message.role)).collect();
    assert_eq!(roles, ["User", "Assistant", "Tool", "Assistant", "User"]);
    assert_eq!(calls(&files), ["c1", "c2"]);
    assert_eq!(results(&files)[1], ("c2".to_owned(), "no scales".to_owned(), true));
    assert_eq!(verdict(&files), Verdict::Accepted);
}

#[test]
fn an_open_call_makes_the_sdk_give_up_and_a_synthetic_result_fixes_it() {
    let files = thread(&[tool(0, "c1", "output-available"), tool(1, "c2", "input-available")]);
    let judgement = judge(&session(&files), None);
    let refusal = &judgement.refusals[0];
    assert_eq!(
        refusal.message,
        "AI_MissingToolResultsError: Tool result is missing for tool call c2. (AI SDK 6 and 7; AI SDK 5 sends the call without a result.)"
    );
    let place = refusal.place.clone().unwrap();
    assert_eq!(place.to_string(), "row 2 of agentMessagePart");
    let after = written(&files, &[Edit::Synthesise { call: place, id: "c2".into() }]);
    assert_eq!(verdict(&after), Verdict::Accepted);
    assert_eq!(results(&after)[1], ("c2".to_owned(), NOT_RECORDED.to_owned(), true));
}

#[test]
fn a_null_input_is_sent_as_an_empty_object() {
    let mut row = tool(0, "c1", "output-error");
    row["toolInput"] = Value::Null;
    let files = thread(&[row]);
    assert_eq!(verdict(&files), Verdict::Accepted);
    assert_eq!(session(&files).messages[1].calls().next().unwrap().arguments, "{}");
}

#[test]
fn queued_messages_are_not_sent_yet() {
    let mut value: Value = serde_json::from_slice(thread(&healthy()).main()).unwrap();
    value["agentMessage"][0]["status"] = json!("queued");
    assert_eq!(session(&files(&value)).messages.len(), 4);
}

#[test]
fn one_call_in_two_rows_is_reported_and_the_second_can_be_dropped() {
    let mut twin = tool(1, "c1", "output-error");
    twin["type"] = json!("dynamic-tool");
    let files = thread(&[tool(0, "c1", "output-available"), twin]);
    assert!(refusals(&files).contains(&"anthropic-messages/tool-use-id-duplicate".to_owned()));
    let after = written(&files, &[Edit::Drop { block: place(&files, "/agentMessagePart/1") }]);
    assert_eq!(verdict(&after), Verdict::Accepted);
    // The row with the output can be the second one.
    let files = thread(&[tool(0, "c1", "input-available"), tool(1, "c1", "output-available")]);
    let (call, result) = (place(&files, "/agentMessagePart/0"), place(&files, "/agentMessagePart/1"));
    let after = written(&files, &[Edit::Move { result, call, id: "c1".into() }]);
    assert_eq!((verdict(&after), calls(&after).len()), (Verdict::Accepted, 1));
    assert_eq!(results(&after)[0].1, r#"{"grams":3}"#);
}

#[test]
fn dropping_the_last_row_of_a_message_drops_the_message() {
    let files = thread(&[text("a", 0, " ")]);
    assert_eq!(refusals(&files), ["anthropic-messages/text-blank"]);
    let after = written(&files, &[Edit::Drop { block: place(&files, "/agentMessagePart/0") }]);
    assert_eq!((verdict(&after), session(&after).messages.len()), (Verdict::Accepted, 2));
    assert!(!String::from_utf8_lossy(after.main()).contains("assistant"));
}

#[test]
fn truncation_removes_the_rows_of_later_messages_and_steps() {
    let files = thread(&healthy());
    let after = written(&files, &[Edit::Truncate { last: place(&files, "/agentMessagePart/2") }]);
    assert_eq!((session(&after).messages.len(), verdict(&after)), (3, Verdict::Accepted));
    let text = String::from_utf8(after.main().to_vec()).unwrap();
    assert!(!text.contains("Done.") && !text.contains("u2") && text.contains("u1"), "{text}");
}

#[test]
fn each_thread_is_a_session() {
    let mut value: Value = serde_json::from_slice(thread(&healthy()).main()).unwrap();
    value["agentChatThread"] = json!([{ "id": "t" }, { "id": "s" }]);
    let sessions = read(&files(&value)).unwrap();
    let ids: Vec<&str> = sessions.iter().filter_map(|session| session.id.as_deref()).collect();
    assert_eq!(ids, ["s", "t"]);
}

#[test]
fn an_edit_of_a_missing_block_is_rejected() {
    let files = thread(&healthy());
    let place = crate::Place::in_file(0..1, "/agentMessagePart/77");
    let edit = Edit::Synthesise { call: place, id: "c".into() };
    let error = store_of(Product::Twenty).unwrap().write(&files, &session(&files), &[edit]).unwrap_err();
    assert_eq!(error.to_string(), "Twenty at /agentMessagePart/77: no part of the session is there");
}

#[test]
fn hostile_files_are_survived() {
    let value: Value = serde_json::from_slice(thread(&[tool(0, "c1", "input-available")]).main()).unwrap();
    survive(&value);
}
