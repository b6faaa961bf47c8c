use serde_json::{Value, json};

use crate::stores::list_tests::*;
use crate::{Edit, Files, NOT_RECORDED, Product, Verdict, judge, read};

fn user(text: &str) -> Value {
    json!({ "id": text, "role": "user", "content": text })
}

fn reply(id: &str, text: &str, calls: &[&str]) -> Value {
    let call = |id: &&str| json!({ "id": id, "type": "function", "function": { "name": "weigh", "arguments": "{}" } });
    let calls: Vec<Value> = calls.iter().map(call).collect();
    json!({ "id": id, "role": "assistant", "content": text, "toolCalls": calls })
}

fn result(id: &str) -> Value {
    json!({ "id": format!("r-{id}"), "role": "tool", "toolCallId": id, "content": "3 g" })
}

fn thread(middle: &[Value]) -> Files {
    files(&Value::Array([vec![user("weigh")], middle.to_vec(), vec![user("and now?")]].concat()))
}

#[test]
fn a_healthy_batch_is_accepted_and_unsent_content_ignored() {
    let thought = json!({ "id": "th", "role": "reasoning", "content": "both" });
    let shown = json!({ "id": "ac", "role": "activity", "activityType": "x", "content": {} });
    let empty = json!({ "id": "e", "role": "assistant", "content": "" });
    let middle = [thought, shown, reply("a", "Both.", &["c1", "c2"]), result("c1"), result("c2"), empty];
    let files = thread(&middle);
    assert_eq!((session(&files).product, verdict(&files)), (Product::AgUiMessages, Verdict::Accepted));
    assert_eq!((calls(&files).len(), results(&files).len()), (2, 2));
}

#[test]
fn a_missing_result_is_reported_at_its_call_and_synthesised() {
    let files = thread(&[reply("a", "", &["c1", "c2"]), result("c1")]);
    let judgement = judge(&session(&files), None);
    assert_eq!(judgement.refusals[0].rule.unwrap().id, "anthropic-messages/tool-result-missing");
    let call = judgement.refusals[0].place.clone().unwrap();
    assert_eq!(call.pointer, "/1/toolCalls/1");
    let after = written(&files, &[Edit::Synthesise { call, id: "c2".into() }]);
    assert_eq!(verdict(&after), Verdict::Accepted);
    assert_eq!(results(&after)[1], ("c2".to_owned(), NOT_RECORDED.to_owned(), true));
    assert_eq!(session(&after).messages[3].id.as_deref(), Some("result-c2"));
}

#[test]
fn a_late_result_is_moved_and_an_orphan_dropped() {
    let files = thread(&[
        reply("a", "", &["c1", "c2"]),
        result("c1"),
        reply("b", "hm", &[]),
        result("c2"),
        result("c9"),
    ]);
    assert_eq!(verdict(&files), Verdict::Refused);
    let (call, result) = (place(&files, "/1/toolCalls/1"), place(&files, "/4"));
    let edits = [Edit::Move { result, call, id: "c2".into() }, Edit::Drop { block: place(&files, "/5") }];
    let after = written(&files, &edits);
    assert_eq!((verdict(&after), results(&after).len()), (Verdict::Accepted, 2));
    assert_eq!(session(&after).messages[3].id.as_deref(), Some("r-c2"));
}

#[test]
fn a_call_and_its_text_can_be_dropped_separately() {
    let files = thread(&[reply("a", "Both.", &["c1"]), reply("b", " ", &["c2"]), result("c2")]);
    let after = written(&files, &[Edit::Drop { block: place(&files, "/1/toolCalls/0") }]);
    assert_eq!((calls(&after), session(&after).n_records), (vec!["c2".to_owned()], 5));
    let after = written(&after, &[Edit::Drop { block: place(&after, "/2/content") }]);
    assert_eq!((verdict(&after), session(&after).n_records), (Verdict::Accepted, 5));
    let alone = thread(&[reply("a", "", &["c1"]), reply("b", "", &["c2"]), result("c2")]);
    let after = written(&alone, &[Edit::Drop { block: place(&alone, "/1/toolCalls/0") }]);
    assert_eq!((verdict(&after), session(&after).n_records), (Verdict::Accepted, 4));
}

#[test]
fn truncation_and_a_torn_end() {
    let whole = thread(&[reply("a", "", &["c1"]), result("c1"), reply("b", "Done.", &[])]);
    let after = written(&whole, &[Edit::Truncate { last: place(&whole, "/2") }]);
    assert_eq!((session(&after).n_records, verdict(&after)), (3, Verdict::Accepted));
    let torn = Files::one("t.json", &whole.main()[..whole.main().len() - 9]);
    let trouble = session(&torn).troubles[0].clone();
    assert_eq!(session(&torn).n_records, 4);
    assert!(session(&written(&torn, &[Edit::Discard { place: trouble.place }])).troubles.is_empty());
}

#[test]
fn lists_of_other_products_are_not_recognised() {
    let chat = json!([{ "role": "assistant", "tool_calls": [{ "id": "c", "function": { "name": "x" } }] }]);
    for other in [json!([user("hi")]), chat, json!([reply("a", "", &["c"]), { "id": "x", "role": "bot" }])] {
        let found = read(&files(&other));
        assert!(!found.is_ok_and(|all| all[0].product == Product::AgUiMessages), "{other}");
    }
}

#[test]
fn hostile_files_are_survived() {
    survive(&json!([user("a"), reply("a", "x", &["c1"]), result("c1")]));
}
