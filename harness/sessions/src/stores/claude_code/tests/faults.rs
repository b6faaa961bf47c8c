//! Faults put into a healthy session. Each must be reported as the planted fault.

use super::*;
use crate::{Lost, Reason, Repair, RepairOptions, repair};

#[test]
fn a_lost_result_line_is_a_missing_result() {
    let mut lines = batch();
    lines.remove(6);
    let session = read_lines(&lines);
    let judgement = judge(&session, None);
    assert_eq!(rules(&judgement), ["anthropic-messages/tool-result-missing"]);
    assert_eq!(judgement.refusals[0].place.as_ref().and_then(|place| place.line), Some(5));
    assert_eq!(judgement.verdict, Verdict::Refused);
    assert!(session.troubles.is_empty());
}

#[test]
fn a_lost_call_line_leaves_a_result_without_a_call() {
    let mut lines = batch();
    // The line of the second call, and with it the parent of its result.
    lines.remove(3);
    let session = read_lines(&lines);
    assert_eq!(
        words_of_troubles(&session),
        ["the thread is cut: the parent of this line is not in the file"]
    );
    assert_eq!(session.troubles[0].place.line, Some(7));
    assert_eq!(session.troubles[0].loses, None);
    assert!(!session.is_excerpt);
    let judgement = judge(&session, None);
    assert!(rules(&judgement).contains(&"anthropic-messages/tool-result-orphan"), "{:?}", rules(&judgement));
    let n_refused = |session: &Session| ClaudeCode.send(session).mended.len();
    assert_eq!(n_refused(&session), 0);
    let mut newer = session.clone();
    newer.version = Some("2.1.280".to_owned());
    let words = ClaudeCode.send(&newer).mended;
    assert_eq!(words, [("leaves out results without a call", 1)]);
}

#[test]
fn a_lost_call_line_at_the_end_of_a_batch_puts_its_result_off_the_branch() {
    let mut lines = batch();
    lines.remove(4);
    let session = read_lines(&lines);
    assert_accepted(&session);
    let aside: Vec<String> = session.off_branch.iter().map(shape_of).collect();
    assert_eq!(aside, ["tool: result toolu_3"]);
}

#[test]
fn a_truncated_last_line_is_torn() {
    let mut files = file(&batch());
    let whole = files.main().len();
    files.files[0].bytes.truncate(whole - 60);
    let session = read(&files);
    assert_eq!(words_of_troubles(&session), ["a torn line: it ends before its JSON does"]);
    assert_eq!(
        session.troubles[0].loses,
        Some(Lost::Data("the last record, which was not written to its end"))
    );
    assert_eq!(session.troubles[0].place.line, Some(11));
    assert_eq!(shape(&session).last().unwrap(), "user: Thanks.");
    assert_stops_before_2_1_121(&session);
}

/// Older versions stop at a line that they cannot read, and newer ones skip it.
fn assert_stops_before_2_1_121(session: &Session) {
    let judgement = judge(session, None);
    assert_eq!((judgement.verdict, rules(&judgement)), (Verdict::Refused, vec!["gives up"]));
    assert_eq!(judgement.refusals[0].place.as_ref(), Some(&session.troubles[0].place));
    for version in [Some("2.1.121".to_owned()), None] {
        assert_accepted(&Session { version, ..session.clone() });
    }
}

#[test]
fn an_empty_text_beside_an_image_is_sent_by_the_versions_that_people_report() {
    let image =
        json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": PIXEL } });
    let content = json!([image, { "type": "text", "text": "" }]);
    let message = json!({ "role": "user", "content": content });
    let of = |version: &str| {
        let asked = line("u1", "", json!({ "type": "user", "message": message, "version": version }));
        vec![asked, with(said("a1", "u1", "m1", "A dot."), json!({ "version": version }))]
    };
    let session = read_lines(&of("2.1.142"));
    let judgement = judge(&session, None);
    assert_eq!(rules(&judgement), ["anthropic-messages/text-empty"]);
    assert_eq!(judgement.refusals[0].place.as_ref().unwrap().pointer, "/message/content/1");
    let Ok(Repair::Mended(fixed)) = repair(&file(&of("2.1.142")), 0, &RepairOptions::default()) else {
        // quoted: the name of the variant
        panic!("fixed")
    };
    assert_eq!(fixed.edits.iter().map(|edit| edit.reason).collect::<Vec<_>>(), [Reason::Blank]);
    for version in ["2.1.39", "2.1.300"] {
        assert_accepted(&read_lines(&of(version)));
    }
}

#[test]
fn a_recorded_refusal_is_believed_and_the_repair_ends_it() {
    let error = |words: &str| {
        let message = json!({ "role": "assistant", "model": "<synthetic>", "content": [{ "type": "text", "text": words }] });
        line("e1", "u2", json!({ "type": "assistant", "isApiErrorMessage": true, "message": message }))
    };
    let empty = r#"API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"messages: text content blocks must be non-empty"}}"#;
    let mut lines = vec![
        user("u1", "", "Look."),
        said("a1", "u1", "m1", ""),
        call("a2", "a1", "m1", "toolu_1"),
        result("r1", "a2", "toolu_1"),
        user("u2", "r1", "Well?"),
    ];
    assert_accepted(&read_lines(&lines));
    lines.push(error(empty));
    let session = read_lines(&lines);
    let judgement = judge(&session, None);
    assert_eq!(rules(&judgement), ["anthropic-messages/text-empty"]);
    assert_eq!(judgement.refusals[0].place.as_ref().unwrap().line, Some(2));
    assert_eq!(judgement.recorded.as_ref().map(|own| own.place.line), Some(Some(6)));
    let Ok(Repair::Mended(fixed)) = repair(&file(&lines), 0, &RepairOptions::default()) else {
        // quoted: the name of the variant
        panic!("fixed")
    };
    assert_eq!(fixed.edits.len(), 1);
    // A reply after it, or an error that is not about the history, changes nothing.
    let mut later = lines.clone();
    later.push(said("a9", "u2", "m9", "Fine."));
    assert_accepted(&read_lines(&later));
    lines[5] = error("API Error: 529 overloaded_error");
    assert_accepted(&read_lines(&lines));
}

#[test]
fn thinking_without_its_text_is_removed_if_the_provider_refused_it() {
    let words = "API Error: 400 messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message \
        cannot be modified. These blocks must remain as they were in the original response.";
    let message = json!({ "role": "assistant", "model": "<synthetic>", "content": [{ "type": "text", "text": words }] });
    let mut lines = batch();
    lines[1] = with(thought("a1", "u1", "m1", ""), json!({ "version": "2.1.153" }));
    lines.push(line(
        "e1",
        "c1",
        json!({ "type": "assistant", "isApiErrorMessage": true, "message": message }),
    ));
    let judgement = judge(&read_lines(&lines), None);
    assert_eq!(rules(&judgement), ["anthropic-messages/thinking-modified"]);
    assert_eq!(judgement.refusals[0].place.as_ref().unwrap().line, Some(2));
    let Ok(Repair::Mended(fixed)) = repair(&file(&lines), 0, &RepairOptions::default()) else {
        // quoted: the name of the variant
        panic!("fixed")
    };
    assert_eq!(fixed.edits.iter().map(|edit| edit.reason).collect::<Vec<_>>(), [Reason::Hollow]);
}

#[test]
fn half_a_character_has_its_line_and_its_place_in_it() {
    let text = file(&batch()).files[0].bytes.clone();
    let text = String::from_utf8(text).unwrap().replacen("Thanks.", "Thanks \\ud83d", 1);
    let session = crate::read(&Files::one("s1.jsonl", text)).unwrap().remove(0);
    let place = &session.troubles.last().unwrap().place;
    assert_eq!((place.line, place.pointer.as_str()), (Some(10), "/message/content"));
}

/// A PNG of one pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[test]
fn nul_bytes_are_reported_and_the_lines_before_them_read() {
    let mut files = file(&batch());
    files.files[0].bytes.extend([0; 4096]);
    let session = read(&files);
    assert_eq!(words_of_troubles(&session), ["4096 NUL bytes"]);
    assert_eq!(session.messages.len(), 6);
    // Without a line end before them.
    files.files[0].bytes.retain(|byte| *byte != 0);
    files.files[0].bytes.pop();
    let at = files.main().len() as u64;
    files.files[0].bytes.extend([0; 16]);
    let session = read(&files);
    assert_eq!((session.troubles[0].place.start, session.troubles[0].place.end), (at, at + 16));
    assert_eq!(session.messages.len(), 6);
    assert_stops_before_2_1_121(&session);
}

#[test]
fn a_duplicate_line_is_reported_and_sent_once() {
    let mut lines = batch();
    lines.insert(6, lines[5].clone());
    let session = read_lines(&lines);
    assert_eq!(words_of_troubles(&session), ["the same line as line 6"]);
    assert_eq!(session.troubles[0].place.line, Some(7));
    assert_eq!(shape(&session), shape(&read_lines(&batch())));
    assert_accepted(&session);
}

#[test]
fn a_batch_duplicated_off_the_chain_is_sent_once() {
    let mut lines = batch();
    lines.insert(5, with(call("x4", "a3", "m1", "toolu_3"), json!({ "timestamp": "later" })));
    lines.insert(8, result("x3", "x4", "toolu_3"));
    let session = read_lines(&lines);
    assert_eq!(shape(&session)[1], "model: thinking, call toolu_1, call toolu_2, call toolu_3");
    assert_accepted(&session);
}

#[test]
fn a_text_duplicated_off_the_chain_is_sent_once() {
    let session = read_lines(&[
        user("u1", "", "Look."),
        said("a1", "u1", "m1", "Done."),
        said("x1", "u1", "m1", "Done."),
        user("u2", "a1", "Good."),
    ]);
    assert_eq!(shape(&session), ["user: Look.", "model: Done.", "user: Good."]);
}

#[test]
fn a_duplicate_result_on_the_chain_is_rejected() {
    let session = read_lines(&[
        user("u1", "", "Look."),
        call("a1", "u1", "m1", "toolu_1"),
        result("r1", "a1", "toolu_1"),
        result("r2", "r1", "toolu_1"),
        said("b1", "r2", "m2", "Done."),
    ]);
    assert_eq!(rules(&judge(&session, None)), ["anthropic-messages/tool-result-duplicate"]);
}

#[test]
fn hollow_thinking_keeps_its_signature() {
    use brickbat_rules::histories::Block;
    let mut lines = batch();
    lines[1] = thought("a1", "u1", "m1", "");
    let session = read_lines(&lines);
    let Block::Thinking(thinking) = &session.messages[1].blocks[0].content else { panic!("no thinking") };
    assert_eq!((thinking.text.as_str(), thinking.signature.as_deref()), ("", Some("c2lnbmVk")));
    // Models that hide their thinking also write it this way, so it is not a fault by itself.
    assert!(session.troubles.is_empty());
    lines[1] = reply("a1", "u1", "m1", json!({ "type": "thinking", "thinking": "Hm." }));
    let session = read_lines(&lines);
    let Block::Thinking(thinking) = &session.messages[1].blocks[0].content else { panic!("no thinking") };
    assert_eq!(thinking.signature, None);
}

#[test]
fn thinking_without_text_is_reported_for_the_versions_that_lost_it() {
    let mut lines = batch();
    for (version, n_troubles) in [("2.1.142", 0), ("2.1.143", 1), ("2.1.156", 1), ("2.1.157", 0)] {
        lines[1] = with(thought("a1", "u1", "m1", ""), json!({ "version": version }));
        let session = read_lines(&lines);
        assert_eq!(session.troubles.len(), n_troubles, "{version}");
        for trouble in session.troubles {
            assert_eq!(
                trouble.words,
                "thinking with a signature and without its text, which the provider may refuse"
            );
            assert_eq!((trouble.place.line, trouble.loses), (Some(2), None));
        }
    }
}

#[test]
fn a_model_that_hides_its_thinking_has_not_lost_it() {
    let mut lines = batch();
    for (model, n_troubles) in [
        ("claude-opus-4-6", 1),
        ("claude-sonnet-4-20250514", 1),
        ("claude-3-7-sonnet-20250219", 1),
        ("claude-opus-4-7", 0),
        ("claude-opus-4-8[1m]", 0),
        ("claude-opus-5", 0),
        ("claude-mythos-preview", 0),
    ] {
        lines[1] = with(thought("a1", "u1", "m1", ""), json!({ "version": "2.1.150" }));
        lines[1]["message"]["model"] = json!(model);
        assert_eq!(read_lines(&lines).troubles.len(), n_troubles, "{model}");
    }
}

#[test]
fn a_missing_parent_cuts_the_thread() {
    let mut lines = batch();
    lines[9]["parentUuid"] = json!("nobody");
    let session = read_lines(&lines);
    assert_eq!(
        words_of_troubles(&session),
        ["the thread is cut: the parent of this line is not in the file"]
    );
    assert_eq!(session.troubles[0].place.line, Some(10));
    assert_eq!(shape(&session), ["user: Thanks.", "model: You are welcome."]);
    assert_eq!(judge(&session, None).verdict, Verdict::Cut);
}

/// The line number of a cut's proven parent.
fn proven(lines: &[Value]) -> Option<u64> {
    read_lines(lines).cut.unwrap().parent?.line
}

#[test]
fn a_cut_thread_is_reattached_where_the_file_proves_its_parent() {
    let mut lines = batch();
    lines[9]["parentUuid"] = json!("nobody");
    assert_eq!(proven(&lines), Some(9));
    let files = file(&lines);
    let Ok(Repair::Mended(fixed)) = repair(&files, 0, &RepairOptions::default()) else { panic!("fixed") }; // quoted: the name of the variant
    assert_eq!((fixed.reattached.len(), fixed.edits.len()), (1, 0));
    let mut expected = lines.clone();
    expected[9]["parentUuid"] = json!("b1");
    assert_eq!(fixed.files, file(&expected));
    // A result names the line of its call by the call's id, wherever else the conversation continued.
    let mut lines = batch();
    lines[7]["parentUuid"] = json!("nobody");
    lines[8]["parentUuid"] = json!("r2");
    assert_eq!(proven(&lines), Some(4));
}

#[test]
fn a_cut_thread_stays_cut_where_its_parent_is_not_proven() {
    let cut = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut lines = batch();
        lines[9]["parentUuid"] = json!("nobody");
        change(&mut lines);
        let is_proven = proven(&lines).is_some();
        let repaired = repair(&file(&lines), 0, &RepairOptions::default());
        assert_eq!(matches!(repaired, Ok(Repair::Mended(_))), is_proven); // quoted: the name of the variant
        is_proven
    };
    assert!(cut(&|_| {}));
    // After a rewind there are two ends.
    assert!(!cut(&|lines| lines.insert(9, user("x1", "a4", "No, stop."))));
    // Another session, or a time before that of the line above.
    assert!(!cut(&|lines| lines[9]["sessionId"] = json!("s2")));
    assert!(!cut(&|lines| lines[9]["timestamp"] = json!("2026-01-31T00:00:00.000Z")));
}

#[test]
fn a_result_off_the_chain_is_healthy() {
    let mut lines = batch();
    // Its parent is an abandoned line, as after a slow hook.
    lines[6]["parentUuid"] = json!("x1");
    lines.insert(6, user("x1", "a4", "[Request interrupted by user]"));
    let session = read_lines(&lines);
    assert_accepted(&session);
    assert!(session.troubles.is_empty());
}

#[test]
fn a_compaction_between_a_call_and_its_result_leaves_a_result_without_a_call() {
    let session = read_lines(&[
        user("u1", "", "Look."),
        call("a1", "u1", "m1", "toolu_1"),
        boundary("k1", "a1"),
        summary("u2", "k1"),
        result("r1", "u2", "toolu_1"),
        said("b1", "r1", "m2", "Done."),
    ]);
    assert!(rules(&judge(&session, None)).contains(&"anthropic-messages/tool-result-orphan"));
}

#[test]
fn a_command_between_a_server_tool_call_and_its_result_splits_the_reply() {
    let used = json!({ "type": "server_tool_use", "id": "srvtoolu_1", "name": "advisor", "input": {} });
    let advised = json!({
        "type": "advisor_tool_result", "tool_use_id": "srvtoolu_1",
        "content": { "type": "advisor_result", "text": "Do it." },
    });
    let command =
        line("k1", "a1", json!({ "type": "system", "subtype": "local_command", "content": "<x>ls</x>" }));
    let mut lines = vec![
        user("u1", "", "Look."),
        reply("a1", "u1", "m1", used),
        command,
        reply("a2", "k1", "m1", advised),
        user("u2", "a2", "And?"),
    ];
    let session = read_lines(&lines);
    assert_eq!(
        shape(&session)[1..4],
        ["model: server_tool_use", "user: <x>ls</x>", "model: advisor_tool_result"]
    );
    let judgement = judge(&session, None);
    let refused = rules(&judgement);
    assert_eq!(
        refused,
        ["anthropic-messages/server-tool-result-orphan", "anthropic-messages/server-tool-result-missing"]
    );
    let files = file(&lines);
    let (copy, reasons, _) = crate::stores::testing::repaired(&files).unwrap();
    assert_eq!(reasons, [Reason::Parted]);
    let order: Vec<(Value, Value)> = crate::json::lines(copy.main())
        .map(|line| serde_json::from_slice::<Value>(line.bytes).unwrap())
        .map(|line| (line["uuid"].clone(), line["parentUuid"].clone()))
        .collect();
    let of = |uuid: &str, parent: &str| (json!(uuid), json!(parent));
    assert_eq!(order[1..], [of("a1", "u1"), of("a2", "a1"), of("k1", "a2"), of("u2", "k1")]);
    lines.remove(2);
    lines[2]["parentUuid"] = json!("a1");
    let whole = read_lines(&lines);
    assert_eq!(shape(&whole)[1], "model: server_tool_use, advisor_tool_result");
    assert_accepted(&whole);
}
