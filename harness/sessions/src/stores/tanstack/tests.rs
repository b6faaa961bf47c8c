use serde_json::{Value, json};

use crate::stores::list_tests::*;
use crate::{Edit, Files, NOT_RECORDED, Product, Verdict, judge, read};

fn user(text: &str) -> Value {
    json!({ "id": text, "role": "user", "parts": [said(text)] })
}

fn said(text: &str) -> Value {
    json!({ "type": "text", "content": text })
}

fn call(id: &str, state: &str) -> Value {
    json!({ "type": "tool-call", "id": id, "name": "weigh", "arguments": "{\"n\":1}", "state": state })
}

fn result(id: &str) -> Value {
    json!({ "type": "tool-result", "toolCallId": id, "content": "3 g", "state": "complete" })
}

fn thread(parts: &[Value]) -> Files {
    files(&json!([user("weigh"), { "id": "a", "role": "assistant", "parts": parts }, user("and now?")]))
}

fn healthy() -> Vec<Value> {
    let thought = json!({ "type": "thinking", "content": "both", "signature": "s" });
    let calls = [call("c1", "complete"), call("c2", "error")];
    [vec![thought, said("Both.")], calls.to_vec(), vec![result("c1"), result("c2"), said("Done.")]].concat()
}

#[test]
fn a_healthy_batch_with_thinking_is_accepted() {
    let files = thread(&healthy());
    let session = session(&files);
    assert_eq!((session.product, session.n_records), (Product::Tanstack, 3));
    let roles: Vec<String> = session.messages.iter().map(|message| format!("{:?}", message.role)).collect();
    assert_eq!(roles, ["User", "Assistant", "Tool", "Assistant", "User"]);
    assert_eq!((verdict(&files), results(&files).len()), (Verdict::Accepted, 2));
}

#[test]
fn a_call_without_a_result_is_sent_unchanged() {
    let files = thread(&[call("c1", "complete"), call("c2", "input-complete"), result("c1")]);
    assert_eq!(refusals(&files), ["anthropic-messages/tool-result-missing"]);
    let after = written(&files, &[Edit::Synthesise { call: place(&files, "/1/parts/1"), id: "c2".into() }]);
    assert_eq!(verdict(&after), Verdict::Accepted);
    assert_eq!(results(&after)[1], ("c2".to_owned(), NOT_RECORDED.to_owned(), true));
    let open = files_of_tail(&[call("c1", "input-complete")]);
    assert_eq!(verdict(&open), Verdict::Refused);
}

fn files_of_tail(parts: &[Value]) -> Files {
    files(&json!([user("weigh"), { "id": "a", "role": "assistant", "parts": parts }]))
}

#[test]
fn truncated_calls_and_results_are_left_out() {
    for state in ["awaiting-input", "input-streaming"] {
        let judgement = judge(&session(&thread(&[said("hm"), call("c1", state)])), None);
        assert_eq!(judgement.verdict, Verdict::Accepted);
        assert_eq!(judgement.sent.mended, [("leaves out calls whose arguments were cut off", 1)]);
    }
    let mut half = result("c1");
    half["state"] = json!("streaming");
    let files = thread(&[call("c1", "complete"), half]);
    assert_eq!(refusals(&files), ["anthropic-messages/tool-result-missing"]);
}

#[test]
fn truncated_arguments_are_sent_as_text_and_the_call_can_be_dropped() {
    let mut cut = call("c2", "input-complete");
    cut["arguments"] = json!("{\"n\":");
    let files = thread(&[call("c1", "complete"), result("c1"), cut]);
    assert!(refusals(&files).contains(&"anthropic-messages/tool-input-not-object".to_owned()));
    let after = written(&files, &[Edit::Drop { block: place(&files, "/1/parts/2") }]);
    assert_eq!(verdict(&after), Verdict::Accepted);
    let mut number = call("c1", "complete");
    number["arguments"] = json!("7");
    assert_eq!(verdict(&thread(&[number, result("c1")])), Verdict::Accepted);
}

#[test]
fn an_output_without_a_result_is_sent_at_the_end_of_the_reply() {
    let mut own = call("c1", "complete");
    own["output"] = json!({ "grams": 3 });
    let files = thread(&[own.clone()]);
    assert_eq!(verdict(&files), Verdict::Accepted);
    assert_eq!(results(&files), [("c1".to_owned(), r#"{"grams":3}"#.to_owned(), false)]);
    // If there is also a result, the output is not sent.
    assert_eq!(results(&thread(&[own.clone(), result("c1")])).len(), 1);
    // A call that was still being written is sent because of its output.
    own["state"] = json!("input-streaming");
    assert_eq!(verdict(&thread(&[own])), Verdict::Accepted);
}

#[test]
fn the_user_decision_is_sent_as_a_result() {
    let mut asked = call("c1", "approval-responded");
    asked["approval"] = json!({ "id": "p", "approved": false });
    let files = thread(&[asked]);
    assert_eq!(verdict(&files), Verdict::Accepted);
    assert!(results(&files)[0].1.contains("User denied this action"));
    assert_eq!(verdict(&thread(&[call("c1", "approval-requested")])), Verdict::Refused);
}

#[test]
fn the_second_result_of_a_call_is_left_out() {
    let judgement = judge(&session(&thread(&[call("c1", "complete"), result("c1"), result("c1")])), None);
    assert_eq!(judgement.verdict, Verdict::Accepted);
    assert_eq!(judgement.sent.mended, [("leaves out the second result of a call", 1)]);
}

#[test]
fn a_result_after_a_text_is_moved_to_its_batch() {
    let calls = [call("c1", "complete"), call("c2", "complete")];
    let files = thread(&[&calls[..], &[result("c1"), said("hm"), result("c2")]].concat());
    let expected = ["anthropic-messages/tool-result-missing", "anthropic-messages/tool-result-orphan"];
    assert_eq!(refusals(&files), expected);
    let (call, result) = (place(&files, "/1/parts/1"), place(&files, "/1/parts/4"));
    let after = written(&files, &[Edit::Move { result, call, id: "c2".into() }]);
    assert_eq!((verdict(&after), results(&after).len()), (Verdict::Accepted, 2));
    let kinds: Value = serde_json::from_slice(after.main()).unwrap();
    assert_eq!(kinds[1]["parts"][3]["toolCallId"], "c2");
}

#[test]
fn a_result_without_its_call_is_reported_and_can_be_dropped() {
    let files = thread(&[said("hm"), result("c9")]);
    assert_eq!(refusals(&files), ["anthropic-messages/tool-result-orphan"]);
    let after = written(&files, &[Edit::Drop { block: place(&files, "/1/parts/1") }]);
    assert_eq!(verdict(&after), Verdict::Accepted);
}

#[test]
fn empty_replies_and_unsigned_thoughts_are_not_sent() {
    assert_eq!(verdict(&thread(&[])), Verdict::Accepted);
    let thought = json!({ "type": "thinking", "content": "hm" });
    let judgement = judge(&session(&thread(&[thought])), None);
    assert_eq!((judgement.verdict, judgement.sent.messages.len()), (Verdict::Accepted, 2));
    assert_eq!(refusals(&thread(&[said(" ")])), ["anthropic-messages/text-blank"]);
}

#[test]
fn texts_after_a_call_move_before_it() {
    let sent = judge(&session(&thread(&[call("c1", "complete"), said("hm"), result("c1")])), None).sent;
    let places: Vec<&str> =
        sent.messages[1].blocks.iter().map(|block| block.place.pointer.as_str()).collect();
    assert_eq!(places, ["/1/parts/1", "/1/parts/0"]);
}

#[test]
fn truncation_ends_inside_the_reply() {
    let files = thread(&healthy());
    let after = written(&files, &[Edit::Truncate { last: place(&files, "/1/parts/5") }]);
    assert_eq!((session(&after).messages.len(), verdict(&after)), (3, Verdict::Accepted));
}

#[test]
fn a_torn_file_is_closed_and_unknown_forms_are_not_judged() {
    let whole = thread(&healthy());
    let torn = Files::one("t.json", &whole.main()[..whole.main().len() - 9]);
    let trouble = session(&torn).troubles[0].clone();
    assert_eq!(verdict(&written(&torn, &[Edit::Discard { place: trouble.place }])), Verdict::Accepted);
    let error = read(&thread(&[call("c1", "parked")])).unwrap_err();
    assert_eq!(error.to_string(), "TanStack AI: the state parked of the call at /1/parts/0 is not known");
}

#[test]
fn hostile_files_are_survived() {
    survive(
        &json!([user("a"), { "id": "a", "role": "assistant", "parts": [call("c1", "complete"), result("c1")] }]),
    );
}

#[test]
fn the_client_persists_the_same_list_in_a_field() {
    let list: Value = serde_json::from_slice(thread(&[call("c1", "complete")]).main()).unwrap();
    let kept = format!(r#"{{ "resume": null, "messages": {list} }}"#);
    let files = Files::one("thread.json", kept.as_bytes());
    assert_eq!(verdict(&files), Verdict::Refused);
    let session = &read(&files).unwrap()[0];
    assert_eq!(session.messages[1].blocks[0].place.pointer, "/messages/1/parts/0");
    let Ok(crate::Repair::Mended(mended)) = crate::repair(&files, 0, &crate::RepairOptions::default()) else {
        panic!("not repaired")
    };
    assert_eq!(verdict(&mended.files), Verdict::Accepted);
    let written: Value = serde_json::from_slice(mended.files.main()).unwrap();
    assert_eq!(written["messages"][1]["parts"][1]["content"], NOT_RECORDED);
    assert!(mended.files.main().starts_with(br#"{ "resume": null, "messages": ["#));
}

#[test]
fn only_the_client_sends_an_unfinished_call() {
    let files = thread(&[said("Let me see."), call("c1", "input-streaming")]);
    assert_eq!(verdict(&files), Verdict::Accepted);
    let list: Value = serde_json::from_slice(files.main()).unwrap();
    let kept = Files::one("thread.json", format!(r#"{{ "messages": {list} }}"#));
    assert_eq!(verdict(&kept), Verdict::Refused);
}

#[test]
fn rerun_calls_are_rejected_except_by_responses() {
    use brickbat_rules::{Dialect, Profile};
    let session = session(&thread(&[said("Let me see."), call("c1", "input-complete")]));
    let verdict = |dialect| judge(&session, Some(Profile::newest(dialect))).verdict;
    assert_eq!(verdict(Dialect::OpenaiResponses), Verdict::Accepted);
    assert_eq!(verdict(Dialect::OpenaiChat), Verdict::Refused);
    assert_eq!(verdict(Dialect::AnthropicMessages), Verdict::Refused);
}

/// A rule about arguments has a name of its own in each dialect.
#[test]
fn an_unfinished_call_is_dropped_where_the_provider_refuses_its_arguments() {
    use brickbat_rules::{Dialect, Family, Profile};
    let mut cut = call("c2", "input-streaming");
    cut["arguments"] = json!("{\"n\":");
    let list = thread(&[said("Both."), call("c1", "complete"), result("c1"), cut]);
    let list: Value = serde_json::from_slice(list.main()).unwrap();
    let files = Files::one("thread.json", format!(r#"{{ "messages": {list} }}"#));
    let mut refusing = Vec::new();
    for dialect in Dialect::ALL {
        let options = crate::RepairOptions {
            profile: Some(Profile::newest(dialect)),
            ..crate::RepairOptions::default()
        };
        let Ok(crate::Repair::Mended(done)) = crate::repair(&files, 0, &options) else { continue };
        let mut rules = done.before.refusals.iter().filter_map(|refusal| refusal.rule);
        let is_refused = rules.any(|rule| rule.family() == Some(Family::Arguments));
        let is_dropped = done.edits.iter().any(|edit| edit.reason == crate::Reason::Unfinished);
        assert_eq!(is_dropped, is_refused, "{dialect}");
        refusing.extend(is_refused.then_some(dialect));
    }
    assert!(refusing.contains(&Dialect::BedrockConverse), "{refusing:?}");
}

#[test]
fn an_unfinished_call_is_dropped_instead_of_completed() {
    let mut cut = call("c2", "input-streaming");
    cut["arguments"] = json!("{\"n\":");
    let list = thread(&[said("Both."), call("c1", "complete"), result("c1"), cut.clone()]);
    let list: Value = serde_json::from_slice(list.main()).unwrap();
    let files = Files::one("thread.json", format!(r#"{{ "messages": {list} }}"#));
    let Ok(crate::Repair::Mended(mended)) = crate::repair(&files, 0, &crate::RepairOptions::default()) else {
        panic!("not mended")
    };
    assert_eq!(mended.edits.len(), 1);
    assert_eq!(mended.edits[0].reason, crate::Reason::Unfinished);
    let written: Value = serde_json::from_slice(mended.files.main()).unwrap();
    assert_eq!(written["messages"][1]["parts"].as_array().unwrap().len(), 3);
    // A finished call may have run, whatever its arguments are.
    cut["state"] = json!("input-complete");
    let list = thread(&[said("Both."), call("c1", "complete"), result("c1"), cut]);
    assert!(matches!(
        crate::repair(&list, 0, &crate::RepairOptions::default()),
        Ok(crate::Repair::Beyond(_))
    ));
}
