//! Tests of the branch, step by step. All these sessions are healthy. Each one breaks one of two simpler
//! readings: all lines in file order, or only the `parentUuid` chain.

use super::*;

#[test]
fn a_batch_is_complete_though_the_chain_has_one_result() {
    let session = read_lines(&batch());
    assert_eq!(
        shape(&session),
        [
            "user: Look.",
            "model: thinking, call toolu_1, call toolu_2, call toolu_3",
            "tool: result toolu_1, result toolu_3, result toolu_2",
            "model: All three are fine.",
            "user: Thanks.",
            "model: You are welcome.",
        ]
    );
    assert_accepted(&session);
    assert_eq!((session.n_forks, session.n_records, session.off_branch.len()), (0, 11, 0));
    assert_eq!(session.model.as_deref(), Some("claude-sonnet-4-5"));
    assert_eq!((session.version.as_deref(), session.id.as_deref()), (Some("2.1.39"), Some("s1")));
}

#[test]
fn every_block_has_a_unique_place_that_contains_it() {
    let files = file(&batch());
    let session = read(&files);
    let blocks = session.messages.iter().flat_map(|message| &message.blocks);
    let mut places: Vec<_> = blocks.map(|block| block.place.clone()).collect();
    let at = places.iter().find(|place| place.line == Some(6)).unwrap();
    let text = &files.main()[at.start as usize..at.end as usize];
    assert!(text.starts_with(br#"{"type":"tool_result""#), "{text:?}");
    assert_eq!(at.pointer, "/message/content/0");
    let n_blocks = places.len();
    places.sort();
    places.dedup();
    assert_eq!(places.len(), n_blocks);
}

#[test]
fn the_chain_passes_through_progress_and_attachments() {
    let session = read_lines(&[
        user("u1", "", "Look."),
        line("p1", "u1", json!({ "type": "attachment", "attachment": { "type": "file" } })),
        call("a1", "p1", "m1", "toolu_1"),
        line("p2", "a1", json!({ "type": "progress", "data": { "type": "hook" } })),
        result("r1", "p2", "toolu_1"),
        line("p3", "r1", json!({ "type": "system", "subtype": "turn_duration" })),
        said("b1", "p3", "m2", "Done."),
    ]);
    assert_eq!(
        shape(&session),
        ["user: Look.", "model: call toolu_1", "tool: result toolu_1", "model: Done."]
    );
    assert_accepted(&session);
    assert!(session.troubles.is_empty() && session.unknown.is_empty());
}

#[test]
fn a_line_of_an_unknown_kind_connects_lines_and_is_noted() {
    let session = read_lines(&[
        user("u1", "", "Look."),
        line("x1", "u1", json!({ "type": "weather" })),
        said("b1", "x1", "m2", "Done."),
        json!({ "type": "book-keeping-of-2027", "sessionId": "s1" }),
        json!({ "type": "mode", "mode": "plan" }),
    ]);
    assert_eq!(shape(&session), ["user: Look.", "model: Done."]);
    assert_eq!(session.unknown, ["book-keeping-of-2027", "weather"]);
    assert!(session.troubles.is_empty());
}

#[test]
fn a_conversation_line_in_an_unknown_form_is_not_judged() {
    let strange = line(
        "a1",
        "u1",
        json!({ "type": "assistant", "message": { "id": "m1", "content": { "parts": 1 } } }),
    );
    let files = file(&[user("u1", "", "Look."), strange.clone(), user("u2", "a1", "And?")]);
    let error = ClaudeCode.read(&files).unwrap_err();
    assert_eq!(error.to_string(), "Claude Code: line 2: a line of the model in an unknown form");
    let aside = file(&[user("u1", "", "Look."), strange, user("u2", "u1", "And?")]);
    assert_eq!(shape(&read(&aside)), ["user: Look.", "user: And?"]);
}

#[test]
fn a_rewound_turn_is_not_sent() {
    let mut lines = batch();
    // The user goes back to the model's second line and asks something else.
    lines.extend([user("u3", "b1", "Which is the largest?"), said("d1", "u3", "m4", "The second.")]);
    let session = read_lines(&lines);
    let shape = shape(&session);
    assert_eq!(shape[4..], ["user: Which is the largest?", "model: The second."]);
    assert_accepted(&session);
    assert_eq!((session.n_forks, session.off_branch.len()), (1, 2));
}

#[test]
fn a_rewound_call_needs_no_result() {
    let session = read_lines(&[
        user("u1", "", "Look."),
        call("a1", "u1", "m1", "toolu_1"),
        user("u2", "u1", "Look elsewhere."),
        said("b1", "u2", "m2", "Done."),
    ]);
    assert_eq!(shape(&session), ["user: Look.", "user: Look elsewhere.", "model: Done."]);
    assert_accepted(&session);
}

#[test]
fn the_latest_end_counts_rather_than_the_longest_chain() {
    let session = read_lines(&[
        user("u1", "", "One."),
        said("a1", "u1", "m1", "First."),
        user("u2", "a1", "Two."),
        said("a2", "u2", "m2", "Second."),
        user("u3", "u1", "Three."),
    ]);
    assert_eq!(shape(&session), ["user: One.", "user: Three."]);
}

/// Observed with 2.1.39 after its process ended before the reply was stored: it resumes at the first of two
/// equal trailing lines, and the provider accepts.
#[test]
fn a_copy_of_the_last_results_is_not_the_end() {
    let mut lines: Vec<Value> = batch().into_iter().take(8).collect();
    lines.push(result("r2x", "r2", "toolu_2"));
    let session = read_lines(&lines);
    assert_accepted(&session);
    assert_eq!(shape(&session)[2], "tool: result toolu_1, result toolu_3, result toolu_2");

    // A copy with a later time is the end, and is sent.
    lines[8]["timestamp"] = json!("2026-02-01T00:00:01.000Z");
    assert_eq!(rules(&judge(&read_lines(&lines), None)), ["anthropic-messages/tool-result-duplicate"]);

    // So is a copy that is followed by a reply.
    lines[8]["timestamp"] = lines[7]["timestamp"].clone();
    lines.push(said("b1", "r2x", "m2", "All three are fine."));
    assert_eq!(rules(&judge(&read_lines(&lines), None)), ["anthropic-messages/tool-result-duplicate"]);
}

#[test]
fn a_copy_of_the_last_batch_is_not_the_end() {
    let mut lines: Vec<Value> = batch().into_iter().take(8).collect();
    lines.extend([
        call("a2x", "r2", "m1", "toolu_1"),
        result("r1x", "a2x", "toolu_1"),
        call("a3x", "r1x", "m1", "toolu_2"),
        result("r2x", "a3x", "toolu_2"),
    ]);
    assert_accepted(&read_lines(&lines));
}

#[test]
fn side_lines_team_lines_and_product_lines_are_not_ends() {
    let mut lines = batch();
    lines.push(with(user("s1", "a2", "Work."), json!({ "isSidechain": true })));
    lines.push(with(user("t1", "c1", "Word of a colleague."), json!({ "teamName": "red" })));
    lines.push(with(user("m1", "c1", "A reminder."), json!({ "isMeta": true })));
    let session = read_lines(&lines);
    assert_eq!(shape(&session).last().unwrap(), "model: You are welcome.");
    assert_eq!(session.off_branch.len(), 3);
    assert_accepted(&session);
}

#[test]
fn a_product_line_within_the_chain_is_sent() {
    let session = read_lines(&[
        with(user("u0", "", "A caveat."), json!({ "isMeta": true })),
        user("u1", "u0", "Look."),
        said("a1", "u1", "m1", "Done."),
    ]);
    assert_eq!(shape(&session), ["user: A caveat.", "user: Look.", "model: Done."]);
}

#[test]
fn a_trailing_product_line_does_not_make_an_older_result_the_end() {
    let mut lines = batch();
    lines.truncate(9);
    lines.push(with(user("m1", "b1", "A reminder."), json!({ "isMeta": true })));
    let session = read_lines(&lines);
    assert_eq!(shape(&session).last().unwrap(), "model: All three are fine.");
}

#[test]
fn a_sub_agent_file_of_only_side_lines_is_read() {
    let lines: Vec<Value> =
        batch().into_iter().map(|line| with(line, json!({ "isSidechain": true, "agentId": "x" }))).collect();
    let session = read_lines(&lines);
    assert_eq!(shape(&session), shape(&read_lines(&batch())));
    assert_accepted(&session);
}

#[test]
fn api_errors_are_not_sent_and_do_not_mean_a_brick() {
    let mut lines = batch();
    let error = with(said("e1", "c1", "m9", "API Error: 500"), json!({ "isApiErrorMessage": true }));
    let mut made_up = said("e2", "e1", "m8", "No response requested.");
    made_up["message"]["model"] = json!("<synthetic>");
    lines.extend([error, made_up, user("u3", "e2", "Again.")]);
    let session = read_lines(&lines);
    assert_eq!(shape(&session)[5..], ["model: You are welcome.", "user: Again."]);
    assert_eq!(session.model.as_deref(), Some("claude-sonnet-4-5"));
    let endings: Vec<_> = session.off_branch.iter().map(|message| message.ending).collect();
    assert_eq!(endings, [crate::Ending::Failed, crate::Ending::Failed]);
    assert_accepted(&session);
}

#[test]
fn a_file_that_begins_in_the_middle_is_an_excerpt() {
    let mut lines = vec![
        result("r0", "elsewhere", "toolu_0"),
        said("a0", "r0", "m0", "That was that."),
        user("u1", "a0", "Look."),
    ];
    lines.extend(batch().into_iter().skip(1));
    let session = read_lines(&lines);
    assert!(session.is_excerpt && session.troubles.is_empty());
    assert_eq!(shape(&session)[0], "tool: result toolu_0");
    assert_eq!(judge(&session, None).verdict, Verdict::Excerpt);
}

#[test]
fn a_reply_with_a_result_inside_is_one_message_while_a_call_is_open() {
    let session = read_lines(&[
        user("u1", "", "Look."),
        call("a1", "u1", "m1", "toolu_1"),
        call("a2", "a1", "m1", "toolu_2"),
        result("r1", "a2", "toolu_1"),
        call("a3", "r1", "m1", "toolu_3"),
        result("r3", "a3", "toolu_3"),
        result("r2", "a2", "toolu_2"),
        said("b1", "r3", "m2", "Done."),
    ]);
    assert_eq!(shape(&session)[1], "model: call toolu_1, call toolu_2, call toolu_3");
    assert_accepted(&session);
}

#[test]
fn replies_with_one_id_from_a_proxy_stay_separate() {
    let session = read_lines(&[
        user("u1", "", "Look."),
        call("a1", "u1", "msg", "toolu_1"),
        result("r1", "a1", "toolu_1"),
        said("a2", "r1", "msg", "Done."),
        user("u2", "a2", "More."),
        call("a3", "u2", "msg", "toolu_2"),
        result("r2", "a3", "toolu_2"),
        said("a4", "r2", "msg", "Done again."),
    ]);
    assert_eq!(session.messages.len(), 8);
    assert_accepted(&session);
}

#[test]
fn replies_with_one_id_from_a_proxy_stay_compacted() {
    let session = read_lines(&[
        user("u1", "", "Look."),
        said("a1", "u1", "msg", "Done."),
        boundary("k1", "a1"),
        summary("u2", "k1"),
        said("a2", "u2", "msg", "On we go."),
        user("u3", "a2", "Good."),
    ]);
    assert_eq!(shape(&session), ["user: So far: all was well.", "model: On we go.", "user: Good."]);
}

#[test]
fn the_sent_messages_begin_after_the_last_compaction() {
    let mut lines = batch();
    lines.extend([
        boundary("k1", "c1"),
        summary("u3", "k1"),
        said("d1", "u3", "m4", "On we go."),
        boundary("k2", "d1"),
        summary("u4", "k2"),
        call("e1", "u4", "m5", "toolu_9"),
        result("r9", "e1", "toolu_9"),
    ]);
    let session = read_lines(&lines);
    let shape = shape(&session);
    assert_eq!(shape, ["user: So far: all was well.", "model: call toolu_9", "tool: result toolu_9"]);
    assert_eq!(session.n_compactions, 2);
    assert_accepted(&session);
}

#[test]
fn messages_kept_by_a_compaction_follow_the_summary() {
    let mut lines = batch();
    let kept = json!({ "compactMetadata": { "preservedMessages": {
        "anchorUuid": "u3", "uuids": ["u2", "c1"], "allUuids": ["u2", "c1"],
    } } });
    lines.extend([with(boundary("k1", "c1"), kept), summary("u3", "k1"), user("u4", "c1", "On.")]);
    let expected = ["user: So far: all was well.", "user: Thanks.", "model: You are welcome.", "user: On."];
    assert_eq!(shape(&read_lines(&lines)), expected);
    // The older form, and a new turn after the summary.
    let segment = json!({ "compactMetadata": { "preservedSegment": {
        "headUuid": "u2", "anchorUuid": "u3", "tailUuid": "c1",
    } } });
    lines[11] = with(boundary("k1", "c1"), segment);
    lines[13] = user("u4", "u3", "On.");
    let session = read_lines(&lines);
    assert_eq!(shape(&session), expected);
    assert_accepted(&session);
}

#[test]
fn a_resumed_session_continues_in_the_same_file() {
    let mut lines = batch();
    let resumed = json!({ "version": "2.1.274", "sessionId": "s2" });
    lines.push(json!({ "type": "summary", "summary": "Files", "leafUuid": "c1" }));
    lines.push(with(user("u3", "c1", "I am back."), resumed.clone()));
    lines.push(with(said("d1", "u3", "m4", "Good."), resumed));
    let session = read_lines(&lines);
    assert_eq!(session.messages.len(), 8);
    assert_eq!((session.version.as_deref(), session.id.as_deref()), (Some("2.1.274"), Some("s2")));
    assert_accepted(&session);
}

#[test]
fn missing_results_of_running_calls_are_an_open_tail() {
    let mut lines = batch();
    lines.truncate(6);
    let session = read_lines(&lines);
    assert_eq!(shape(&session).last().unwrap(), "tool: result toolu_1");
    assert!(session.has_open_tail());
    assert_eq!(judge(&session, None).verdict, Verdict::OpenTail);
    assert_eq!(ClaudeCode.fills_open_tail(&session), Some("it resumes past the call without an error"));
}

#[test]
fn lines_of_other_products_are_not_recognised() {
    let qwen = json!({
        "uuid": "1", "parentUuid": null, "sessionId": "s", "type": "user",
        "message": { "role": "user", "parts": [{ "text": "Hi" }] },
    });
    let pi = json!({ "type": "message", "id": "1", "parentId": null, "message": { "role": "user", "content": "Hi" } });
    let plain = json!({ "role": "user", "content": "Hi" });
    for other in [qwen, pi, plain] {
        assert!(!ClaudeCode.recognises(&file(&[other])));
    }
    assert!(!ClaudeCode.recognises(&Files::default()));
    let books = json!({ "type": "summary", "summary": "x", "leafUuid": "y" });
    assert!(ClaudeCode.recognises(&file(&[books.clone(), user("u1", "", "Look.")])));
    assert!(!ClaudeCode.recognises(&file(&[books])));
}
