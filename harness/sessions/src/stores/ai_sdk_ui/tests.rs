use serde_json::{Value, json};

use crate::stores::list_tests::*;
use crate::stores::testing;
use crate::{Edit, Files, NOT_RECORDED, Product, Repair, RepairOptions, Verdict, judge, read, repair};

fn user(text: &str) -> Value {
    json!({ "id": text, "role": "user", "parts": [{ "type": "text", "text": text }] })
}

fn reply(parts: Value) -> Value {
    json!({ "id": "a", "role": "assistant", "parts": parts })
}

fn tool(id: &str, state: &str) -> Value {
    let mut part = json!({ "type": "tool-weigh", "toolCallId": id, "state": state, "input": { "item": id } });
    match state {
        "output-available" => part["output"] = json!({ "grams": 3 }),
        "output-error" => part["errorText"] = json!("no scales"),
        _ => {}
    }
    part
}

fn thread(parts: Value) -> Files {
    files(&json!([user("weigh both"), reply(parts), user("and now?")]))
}

fn healthy() -> Value {
    let thought = json!({ "anthropic": { "signature": "c2ln" } });
    json!([
        { "type": "step-start" },
        { "type": "reasoning", "text": "both at once", "providerMetadata": thought },
        { "type": "text", "text": "I weigh both.", "state": "done" },
        tool("c1", "output-available"),
        tool("c2", "output-error"),
        { "type": "step-start" },
        { "type": "source-url", "sourceId": "s", "url": "https://example.org" },
        { "type": "text", "text": "One weighs 3 g.", "state": "done" },
    ])
}

#[test]
fn a_healthy_batch_with_thinking_is_accepted() {
    let files = thread(healthy());
    let session = session(&files);
    assert_eq!((session.product, session.n_records), (Product::AiSdkUiMessages, 3));
    let roles: Vec<String> = session.messages.iter().map(|message| format!("{:?}", message.role)).collect();
    assert_eq!(roles, ["User", "Assistant", "Tool", "Assistant", "User"]);
    let judgement = judge(&session, None);
    assert_eq!((judgement.verdict, judgement.is_assumed), (Verdict::Accepted, false));
    let expected = [("c1", r#"{"grams":3}"#, false), ("c2", "no scales", true)];
    assert_eq!(results(&files), expected.map(|(id, text, error)| (id.into(), text.into(), error)));
    assert_eq!(session.unknown, Vec::<String>::new());
}

#[test]
fn a_call_without_an_output_makes_the_sdk_give_up() {
    let files = thread(json!([tool("c1", "input-available"), tool("c2", "input-available")]));
    let words = "AI_MissingToolResultsError: Tool results are missing for tool calls c1, c2. (AI SDK 6 and 7; AI SDK 5 sends the call without a result.)";
    assert_eq!(refusals(&files), [words]);
    let files = thread(json!([tool("c1", "output-available"), tool("c2", "input-available")]));
    let judgement = judge(&session(&files), None);
    let refusal = &judgement.refusals[0];
    assert_eq!(
        refusal.message,
        "AI_MissingToolResultsError: Tool result is missing for tool call c2. (AI SDK 6 and 7; AI SDK 5 sends the call without a result.)"
    );
    assert_eq!(refusal.place.as_ref().unwrap().pointer, "/1/parts/1");
}

#[test]
fn a_trailing_open_call_is_sent_unchanged() {
    let files = files(&json!([user("weigh"), reply(json!([tool("c1", "input-available")]))]));
    assert_eq!(verdict(&files), Verdict::Refused);
}

#[test]
fn a_call_cut_off_while_streaming_is_left_out() {
    let files = thread(json!([{ "type": "text", "text": "hm" }, tool("c1", "input-streaming")]));
    let judgement = judge(&session(&files), None);
    assert_eq!(judgement.verdict, Verdict::Accepted);
    assert_eq!(judgement.sent.mended, [("leaves out calls whose arguments were cut off", 1)]);
    assert_eq!(verdict(&thread(json!([tool("c1", "input-streaming")]))), Verdict::Accepted);
}

#[test]
fn a_call_that_waits_for_the_user_is_open_only_at_the_end() {
    let asked = |id: &str, state: &str| {
        let mut part = tool(id, state);
        part["approval"] = json!({ "id": "p" });
        part
    };
    for state in ["approval-requested", "approval-responded"] {
        let end = files(&json!([user("weigh"), reply(json!([asked("c1", state)]))]));
        assert_eq!(verdict(&end), Verdict::OpenTail);
        assert_eq!(verdict(&thread(json!([asked("c1", state)]))), Verdict::Refused);
    }
    let mixed = json!([tool("c1", "approval-requested"), tool("c2", "input-available")]);
    assert_eq!(verdict(&files(&json!([user("weigh"), reply(mixed)]))), Verdict::Refused);
    let lost = reply(json!([tool("c0", "input-available")]));
    let end = files(&json!([user("weigh"), lost, reply(json!([tool("c1", "approval-requested")]))]));
    assert_eq!(refusals(&end).len(), 1);
    let mut denied = tool("c1", "output-denied");
    denied["approval"] = json!({ "id": "p", "approved": false, "reason": "not now" });
    assert_eq!(results(&thread(json!([denied]))), [("c1".to_owned(), "not now".to_owned(), true)]);
}

#[test]
fn calls_move_behind_the_text_within_a_step() {
    let text = json!({ "type": "text", "text": "and" });
    let files = thread(json!([tool("c1", "output-available"), text, tool("c2", "output-available")]));
    let judgement = judge(&session(&files), None);
    assert_eq!(judgement.verdict, Verdict::Accepted);
    assert_eq!(judgement.sent.mended, [("moves calls behind texts", 1)]);
}

#[test]
fn calls_stay_before_the_next_thought() {
    let redacted = json!({ "anthropic": { "redactedData": "r" } });
    let signed = json!({ "anthropic": { "signature": "s" } });
    let thought =
        |metadata: &Value| json!({ "type": "reasoning", "text": "x", "providerMetadata": metadata });
    for (metadata, n_moved) in [(redacted, 0), (signed, 0), (json!({}), 1)] {
        let text = json!({ "type": "text", "text": "and" });
        let files = thread(json!([tool("c1", "output-available"), thought(&metadata), text]));
        assert_eq!(judge(&session(&files), None).sent.mended.len(), n_moved, "{metadata}");
    }
}

#[test]
fn an_empty_text_is_left_out_and_a_blank_one_is_sent() {
    let text = |text: &str| json!({ "type": "text", "text": text });
    assert_eq!(verdict(&thread(json!([text(""), tool("c1", "output-available")]))), Verdict::Accepted);
    assert_eq!(refusals(&thread(json!([text(" ")]))), ["anthropic-messages/text-blank"]);
}

#[test]
fn an_invalid_input_is_sent_raw_and_a_missing_one_rejected() {
    let mut part = tool("c1", "output-error");
    part["input"] = Value::Null;
    part["rawInput"] = json!(r#"{"item":1}"#);
    assert_eq!(verdict(&thread(json!([part.clone()]))), Verdict::Accepted);
    part["rawInput"] = json!(r#"{"item":"#);
    assert_eq!(refusals(&thread(json!([part.clone()]))), ["anthropic-messages/tool-input-not-object"]);
    part["rawInput"] = Value::Null;
    assert_eq!(refusals(&thread(json!([part]))), ["anthropic-messages/tool-input-not-object"]);
}

#[test]
fn a_blank_output_is_a_plain_string() {
    let mut part = tool("c1", "output-available");
    part["output"] = json!("");
    assert_eq!(verdict(&thread(json!([part]))), Verdict::Accepted);
}

#[test]
fn a_thought_that_another_provider_signed_is_not_sent() {
    let own = json!({ "type": "reasoning", "text": "x", "providerMetadata": { "google": { "thoughtSignature": "s" } } });
    let other = json!({ "type": "text", "text": "x", "providerMetadata": { "anthropic": {} } });
    let body = judge(&session(&thread(json!([own, other]))), None).request().to_string();
    assert!(!body.contains("thinking"), "{body}");
}

#[test]
fn one_call_in_two_parts_is_reported_and_repaired_by_a_drop() {
    let mut twin = tool("c1", "input-available");
    twin["type"] = json!("dynamic-tool");
    twin["toolName"] = json!("weigh");
    let files = thread(json!([tool("c1", "output-available"), twin]));
    assert_eq!(refusals(&files), ["anthropic-messages/tool-use-id-duplicate"]);
    let after = written(&files, &[Edit::Drop { block: place(&files, "/1/parts/1") }]);
    assert_eq!((verdict(&after), calls(&after).len()), (Verdict::Accepted, 1));
    // The reverse case: the output is in the second part.
    let mut twin = tool("c1", "input-available");
    twin["type"] = json!("tool-weigh");
    let files = thread(json!([twin, tool("c1", "output-available")]));
    let (call, result) = (place(&files, "/1/parts/0"), place(&files, "/1/parts/1"));
    let after = written(&files, &[Edit::Move { result, call, id: "c1".into() }]);
    assert_eq!(verdict(&after), Verdict::Accepted);
    assert_eq!(results(&after), [("c1".to_owned(), r#"{"grams":3}"#.to_owned(), false)]);
}

#[test]
fn a_synthetic_result_is_an_error_and_nothing_else_changes() {
    let files = thread(json!([tool("c1", "output-available"), tool("c2", "input-available")]));
    let after = written(&files, &[Edit::Synthesise { call: place(&files, "/1/parts/1"), id: "c2".into() }]);
    assert_eq!(verdict(&after), Verdict::Accepted);
    assert_eq!(results(&after)[1], ("c2".to_owned(), NOT_RECORDED.to_owned(), true));
    let (old, new) = difference(&files, &after);
    assert!(old.starts_with("input-available\"") && new.starts_with("output-error\""), "{old} | {new}");
    assert!(new.contains(&format!(r#","errorText":"{NOT_RECORDED}"#)), "{new}");
}

#[test]
fn dropping_the_last_part_drops_the_message() {
    let files = files(&json!([
        user("a"),
        reply(json!([{ "type": "step-start" }, { "type": "text", "text": " " }])),
        user("b")
    ]));
    assert_eq!(verdict(&files), Verdict::Refused);
    let after = written(&files, &[Edit::Drop { block: place(&files, "/1/parts/1") }]);
    assert_eq!((session(&after).n_records, verdict(&after)), (2, Verdict::Accepted));
}

#[test]
fn truncation_ends_inside_the_reply_or_after_it() {
    let files = thread(healthy());
    let after = written(&files, &[Edit::Truncate { last: place(&files, "/1/parts/3") }]);
    assert_eq!((session(&after).messages.len(), verdict(&after)), (3, Verdict::Accepted));
    let after = written(&files, &[Edit::Truncate { last: place(&files, "/1/parts/7") }]);
    assert_eq!((session(&after).messages.len(), session(&after).n_records), (4, 2));
    assert!(files.main().starts_with(&after.main()[..after.main().len() - 2]));
}

#[test]
fn a_torn_file_is_read_up_to_the_tear_and_closed() {
    let whole = thread(healthy());
    let torn = Files::one("t.json", &whole.main()[..whole.main().len() - 20]);
    let read = session(&torn);
    assert_eq!(read.n_records, 2);
    assert_eq!(read.troubles[0].words, "a torn end: the file stops inside its list");
    assert_eq!(written(&torn, &[]), torn);
    let after = written(&torn, &[Edit::Discard { place: read.troubles[0].place.clone() }]);
    assert!(session(&after).troubles.is_empty());
    assert_eq!(verdict(&after), Verdict::Accepted);
}

#[test]
fn nul_bytes_after_the_list_are_removed() {
    let whole = thread(healthy());
    let torn = Files::one("t.json", [whole.main(), &[0; 9]].concat());
    let trouble = session(&torn).troubles[0].clone();
    assert_eq!(trouble.words, "9 NUL bytes after the end");
    assert_eq!(written(&torn, &[Edit::Discard { place: trouble.place }]).main(), whole.main());
}

#[test]
fn unknown_forms_are_not_judged() {
    let unknown = json!({ "type": "tool-weigh", "toolCallId": "c1", "state": "parked", "input": {} });
    let error = read(&thread(json!([unknown, tool("c2", "input-available")]))).unwrap_err();
    let words = "AI SDK UI messages: the state parked of the call at /1/parts/0 is not known";
    assert_eq!(error.to_string(), words);
    let old = json!([{ "type": "tool-invocation", "toolInvocation": { "state": "call" } }]);
    assert_eq!(
        read(&thread(old)).unwrap_err().to_string(),
        "AI SDK UI messages: /1/parts/0 is a tool call of AI SDK 4 without a result, on which `convertToCoreMessages` throws \
         AI_MessageConversionError (ToolInvocation must have a result): set its `toolInvocation.state` to \"result\" and add \
         a `result`, or remove the part"
    );
    let done = json!([{ "type": "tool-invocation", "toolInvocation": { "state": "result", "result": 1 } }]);
    assert_eq!(
        read(&thread(done)).unwrap_err().to_string(),
        "AI SDK UI messages: /1/parts/0 is a part of AI SDK 4"
    );
}

#[test]
fn a_provider_search_is_sent_unchanged() {
    let part = json!({
        "type": "tool-web_search",
        "toolCallId": "srvtoolu_1",
        "state": "output-available",
        "providerExecuted": true,
        "input": { "query": "x" },
        "output": [{ "type": "web_search_result", "url": "u", "title": "t", "pageAge": null, "encryptedContent": "e" }],
        "callProviderMetadata": { "anthropic": {} },
    });
    let files = thread(json!([part, { "type": "text", "text": "found" }]));
    let judgement = judge(&session(&files), None);
    assert_eq!(judgement.verdict, Verdict::Accepted);
    assert!(judgement.request().to_string().contains("web_search_tool_result"));
}

#[test]
fn lists_of_other_products_are_not_recognised() {
    let tanstack = json!([{ "id": "a", "role": "user", "parts": [{ "type": "text", "content": "hi" }] }]);
    let gemini = json!([{ "role": "user", "parts": [{ "text": "hi" }] }]);
    for other in
        [json!([]), json!([{ "role": "user", "content": "hi" }]), gemini, json!({ "role": "user" }), tanstack]
    {
        let product = read(&files(&other)).map(|sessions| sessions[0].product);
        assert_ne!(product.ok(), Some(Product::AiSdkUiMessages), "{other}");
    }
}

#[test]
fn hostile_files_are_survived() {
    survive(&json!([user("a"), reply(healthy())]));
    let deep = [b"[".repeat(200_000), b"{".repeat(200_000)].concat();
    assert!(read(&Files::one("t.json", deep)).is_err());
    let many: Vec<Value> = (0..20_000).map(|n| tool(&format!("c{n}"), "input-available")).collect();
    let files = thread(Value::Array(many));
    let session = session(&files);
    let edits = session.messages[1].blocks.iter().map(|block| Edit::Drop { block: block.place.clone() });
    let edits: Vec<Edit> = edits.skip(1).collect();
    assert_eq!(calls(&written(&files, &edits)), ["c0"]);
}

#[test]
fn a_message_without_content_is_removed_completely() {
    for parts in [json!([]), json!([{ "type": "text", "text": "" }])] {
        let nothing = json!({ "id": "n", "role": "user", "parts": parts });
        let said = reply(json!([{ "type": "text", "text": "Nothing more." }]));
        let files = files(&json!([user("weigh both"), reply(healthy()), nothing, said, user("and now?")]));
        let Ok(Repair::Mended(mended)) = repair(&files, 0, &RepairOptions::default()) else {
            panic!("{parts}")
        };
        let expected = json!([user("weigh both"), reply(healthy()), said, user("and now?")]);
        let after: Value = serde_json::from_slice(mended.files.main()).unwrap();
        assert_eq!(after, expected);
    }
}

/// The tool part after the repair of a thread in which it comes before the next user message.
fn repaired(part: &Value) -> Value {
    let files = thread(json!([part]));
    let Ok(Repair::Mended(mended)) = repair(&files, 0, &RepairOptions::default()) else { panic!("{part}") };
    let after: Value = serde_json::from_slice(mended.files.main()).unwrap();
    after[1]["parts"][0].clone()
}

/// Checks the forms that `validateUIMessages` accepts in `ai` 6.0.326 and 7.0.173. An error has a granted
/// approval or none; a denial has a refused one.
#[test]
fn approved_calls_without_a_result_are_ended_in_a_form_the_sdk_accepts() {
    for kind in ["tool-weigh", "dynamic-tool"] {
        let asked = |state: &str, approval: Value| {
            let mut part = tool("c1", state);
            part["type"] = json!(kind);
            part["toolName"] = json!("weigh");
            part["approval"] = approval;
            part
        };
        let waits = repaired(&asked("approval-requested", json!({ "id": "p" })));
        assert_eq!((&waits["state"], waits.get("approval")), (&json!("output-error"), None));
        assert_eq!(waits["errorText"], json!(crate::NOT_APPROVED));

        let given = json!({ "id": "p", "approved": true });
        let approved = repaired(&asked("approval-responded", given.clone()));
        assert_eq!((&approved["state"], &approved["approval"]), (&json!("output-error"), &given));
        assert_eq!(approved["errorText"], json!(NOT_RECORDED));

        for approval in
            [json!({ "id": "p", "approved": false, "reason": "no" }), json!({ "id": "p", "approved": false })]
        {
            let mut expected = asked("approval-responded", approval);
            let declined = repaired(&expected);
            expected["state"] = json!("output-denied");
            assert_eq!(declined, expected);
        }

        // Without the id of its request it cannot be a denial.
        let declined = repaired(&asked("approval-responded", json!({ "approved": false })));
        assert_eq!((&declined["state"], declined.get("approval")), (&json!("output-error"), None));
        assert_eq!(declined["errorText"], json!(crate::DECLINED));
    }
}

#[test]
fn a_declined_call_is_recorded_as_declined() {
    let mut part = tool("c1", "approval-responded");
    part["approval"] = json!({ "id": "p", "approved": false });
    let Ok(Repair::Mended(mended)) = repair(&thread(json!([part])), 0, &RepairOptions::default()) else {
        panic!("it is mended")
    };
    let words = crate::report::repaired(&mended);
    assert!(words.contains("was refused and did not run"), "{words}");
    assert!(!words.contains("not recorded"), "{words}");
    assert_eq!(results(&mended.files), [("c1".to_owned(), "Tool call execution denied.".to_owned(), true)]);
}

#[test]
fn a_moved_result_keeps_its_approval_and_drops_a_pending_one() {
    let mut first = tool("c1", "approval-requested");
    first["approval"] = json!({ "id": "p" });
    let files = thread(json!([first, tool("c1", "output-available")]));
    let (call, result) = (place(&files, "/1/parts/0"), place(&files, "/1/parts/1"));
    let after = written(&files, &[Edit::Move { result, call, id: "c1".into() }]);
    let after: Value = serde_json::from_slice(after.main()).unwrap();
    assert_eq!(after[1]["parts"], json!([tool("c1", "output-available")]));
}

/// Each part was put to `validateUIMessages` of `ai` 5.0.277, 6.0.326 and 7.0.173.
#[test]
fn parts_that_no_version_validates_are_noted_and_stale_approvals_removed() {
    let part = |state: &str, approval: Value| {
        let mut part = tool("c1", state);
        if state == "output-error" {
            part["errorText"] = json!("no");
        }
        part["approval"] = approval;
        part
    };
    let given = json!({ "id": "p", "approved": true });
    let refused = json!({ "id": "p", "approved": false });
    let valid =
        [("output-available", given.clone()), ("output-error", given), ("output-denied", refused.clone())];
    for (state, approval) in valid {
        assert_eq!(session(&thread(json!([part(state, approval)]))).troubles, [], "{state}");
    }
    for (state, approval) in [
        ("output-available", json!({ "id": "p" })),
        ("output-error", json!({ "id": "p" })),
        ("output-error", refused),
    ] {
        let files = thread(json!([part(state, approval)]));
        let troubles = session(&files).troubles;
        assert!(troubles[0].words.contains("AI_TypeValidationError"), "{state}");
        let (copy, _, _) = testing::repaired(&files).unwrap_or_else(|| panic!("{state}"));
        let whole: Value = serde_json::from_slice(copy.main()).unwrap();
        assert_eq!(whole.pointer("/1/parts/0/approval"), None, "{state}");
        assert_eq!(session(&copy).troubles, []);
    }
    for approval in [json!({}), Value::Null] {
        let files = files(&json!([user("weigh"), reply(json!([part("approval-requested", approval)]))]));
        assert_eq!(session(&files).troubles.len(), 1);
        assert_eq!(verdict(&files), Verdict::Refused);
    }
}
