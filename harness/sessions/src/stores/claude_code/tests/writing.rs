//! Edits, read back and judged.

use brickbat_rules::histories::Block;

use super::*;
use crate::{Edit, NOT_RECORDED, Place};

/// Writes edits, and checks that the same edits to the same file yield the same bytes.
fn write(files: &Files, edits: &[Edit]) -> Files {
    let session = read(files);
    let written = ClaudeCode.write(files, &session, edits).unwrap();
    assert_eq!(ClaudeCode.write(files, &session, edits).unwrap(), written);
    written
}

/// The place of the first block on a line of the branch.
fn on_line(session: &Session, line: u64) -> Place {
    let mut blocks = session.messages.iter().chain(&session.off_branch).flat_map(|message| &message.blocks);
    blocks.find(|block| block.place.line == Some(line)).unwrap().place.clone()
}

fn lines_of(files: &Files) -> Vec<String> {
    String::from_utf8(files.main().to_vec()).unwrap().lines().map(str::to_owned).collect()
}

/// The lines of the first file that the second lacks.
fn lines_without(these: &Files, those: &Files) -> Vec<String> {
    let those = lines_of(those);
    lines_of(these).into_iter().filter(|line| !those.contains(line)).collect()
}

#[test]
fn a_missing_result_is_added_as_not_recorded_to_its_batch() {
    let mut lines = batch();
    lines.remove(6);
    let files = file(&lines);
    let session = read(&files);
    let edit = Edit::Synthesise { call: on_line(&session, 5), id: "toolu_3".to_owned() };
    let written = write(&files, &[edit]);
    assert!(lines_without(&files, &written).is_empty());
    let added = lines_without(&written, &files);
    assert_eq!(added.len(), 1);
    assert_eq!(lines_of(&written)[5], added[0]);
    let added: Value = serde_json::from_str(&added[0]).unwrap();
    assert_eq!(added["parentUuid"], "a4");
    assert_eq!(added["sourceToolAssistantUUID"], "a4");
    let shared = ["sessionId", "version", "cwd", "timestamp", "isSidechain", "userType"];
    assert!(shared.iter().all(|name| added[name] == lines[4][name]), "{added}");
    assert_eq!(added["brickbat"]["edit"], "synthesised");
    let session = read(&written);
    assert_eq!(shape(&session).len(), 6);
    let made_up = session.messages[2].results().find(|result| result.call == "toolu_3").unwrap();
    assert!(made_up.is_error && made_up.text() == NOT_RECORDED);
    assert_accepted(&session);
}

#[test]
fn the_chain_passes_through_a_new_result_after_the_last_call() {
    let files = file(&[
        user("u1", "", "Look."),
        call("a1", "u1", "m1", "toolu_1"),
        user("u2", "a1", "Well?"),
        said("b1", "u2", "m2", "Done."),
    ]);
    assert_eq!(rules(&judge(&read(&files), None)), ["anthropic-messages/tool-result-missing"]);
    let edit = Edit::Synthesise { call: on_line(&read(&files), 2), id: "toolu_1".to_owned() };
    let written = write(&files, &[edit]);
    let lines: Vec<Value> =
        lines_of(&written).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    // The lines form one chain, so a reader that only walks up also sees the result.
    assert!(lines.windows(2).all(|pair| pair[1]["parentUuid"] == pair[0]["uuid"]));
    assert_accepted(&read(&written));
    // Only the parent of one line has changed.
    let changed = lines_without(&files, &written);
    let uuid = lines[2]["uuid"].as_str().unwrap();
    assert_eq!(changed.len(), 1);
    assert!(
        lines_of(&written)
            .contains(&changed[0].replace(r#""parentUuid":"a1""#, &format!(r#""parentUuid":"{uuid}""#)))
    );
}

#[test]
fn a_new_result_within_a_batch_has_no_children() {
    let mut lines = batch();
    lines.remove(5);
    let files = file(&lines);
    let edit = Edit::Synthesise { call: on_line(&read(&files), 3), id: "toolu_1".to_owned() };
    let written = write(&files, &[edit]);
    assert!(lines_without(&files, &written).is_empty());
    assert_accepted(&read(&written));
}

#[test]
fn two_calls_in_one_line_and_a_trailing_call_get_results() {
    let block = |id: &str| json!({ "type": "tool_use", "id": id, "name": "Read", "input": {} });
    let mut both = call("a1", "u1", "m1", "toolu_1");
    both["message"]["content"] = json!([block("toolu_1"), block("toolu_2")]);
    let lines = [user("u1", "", "Look."), both, user("u2", "a1", "Well?"), call("b1", "u2", "m2", "toolu_3")];
    let mut files = file(&lines);
    // The last line has no line end.
    files.files[0].bytes.pop();
    let session = read(&files);
    let blocks = session.messages.iter().flat_map(|message| &message.blocks);
    let edits: Vec<Edit> = blocks
        .filter_map(|block| match &block.content {
            Block::Call(call) => Some(Edit::Synthesise { call: block.place.clone(), id: call.id.clone() }),
            _ => None,
        })
        .collect();
    let written = write(&files, &edits);
    let session = read(&written);
    assert_eq!(
        shape(&session),
        [
            "user: Look.",
            "model: call toolu_1, call toolu_2",
            "tool: result toolu_1, result toolu_2",
            "user: Well?",
            "model: call toolu_3",
            "tool: result toolu_3",
        ]
    );
    assert_accepted(&session);
    assert!(!session.has_open_tail());
}

#[test]
fn an_id_that_is_taken_is_not_reused() {
    let mut lines = batch();
    lines.remove(6);
    let files = file(&lines);
    let edit = |files: &Files| Edit::Synthesise { call: on_line(&read(files), 5), id: "toolu_3".to_owned() };
    let once = write(&files, &[edit(&files)]);
    let twice = write(&once, &[edit(&once)]);
    let mut uuids: Vec<Value> = lines_of(&twice)
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["uuid"].clone())
        .collect();
    let n_lines = uuids.len();
    uuids.sort_by_key(Value::to_string);
    uuids.dedup();
    assert_eq!((uuids.len(), n_lines), (12, 12));
}

#[test]
fn a_result_off_the_branch_is_copied_to_its_call() {
    let mut lines = batch();
    // The result shares its line with one of an abandoned turn, so it cannot be joined.
    let stray = json!({ "type": "tool_result", "tool_use_id": "toolu_dead", "content": "dead" });
    lines[6]["message"]["content"].as_array_mut().unwrap().push(stray);
    let files = file(&lines);
    let session = read(&files);
    assert_eq!(rules(&judge(&session, None)), ["anthropic-messages/tool-result-missing"]);
    let edit =
        Edit::Move { result: on_line(&session, 7), call: on_line(&session, 5), id: "toolu_3".to_owned() };
    let written = write(&files, &[edit]);
    assert!(lines_without(&files, &written).is_empty());
    let session = read(&written);
    assert_accepted(&session);
    let moved = session.messages[2].results().find(|result| result.call == "toolu_3").unwrap();
    assert_eq!((moved.text().as_str(), moved.is_error), ("out of toolu_3", false));
}

#[test]
fn a_result_late_on_the_branch_is_moved_to_its_call() {
    let mut late = result("r2", "u2", "toolu_2");
    late["toolUseResult"] = json!({ "stdout": "so" });
    let lines = [
        user("u1", "", "Look."),
        call("a1", "u1", "m1", "toolu_1"),
        call("a2", "a1", "m1", "toolu_2"),
        result("r1", "a2", "toolu_1"),
        said("b1", "r1", "m2", "Done."),
        user("u2", "b1", "Well?"),
        late,
        said("c1", "r2", "m3", "Ah."),
        json!({ "type": "summary", "summary": "x", "leafUuid": "r2" }),
    ];
    let files = file(&lines);
    let session = read(&files);
    assert_eq!(judge(&session, None).verdict, Verdict::Refused);
    let edit =
        Edit::Move { result: on_line(&session, 7), call: on_line(&session, 3), id: "toolu_2".to_owned() };
    let written = write(&files, &[edit]);
    let session = read(&written);
    assert_eq!(
        shape(&session),
        [
            "user: Look.",
            "model: call toolu_1, call toolu_2",
            "tool: result toolu_2, result toolu_1",
            "model: Done.",
            "user: Well?",
            "model: Ah.",
        ]
    );
    assert_accepted(&session);
    assert!(session.troubles.is_empty());
    let added: Value = serde_json::from_str(&lines_of(&written)[3]).unwrap();
    assert_eq!(added["toolUseResult"], json!({ "stdout": "so" }));
    // The bookkeeping that named the removed line as an end names the conversation line above it.
    assert!(lines_of(&written).last().unwrap().contains(r#""leafUuid":"u2""#));
    // The others are unchanged, except for the parent of the line after it.
    assert_eq!(lines_without(&files, &written).len(), 4);
}

#[test]
fn a_block_is_removed_with_its_comma_and_the_last_with_its_line() {
    let mut asked = user("u1", "", "");
    let text = |words: &str| json!({ "type": "text", "text": words });
    asked["message"]["content"] = json!([text("a"), text("b"), text("c")]);
    let files = file(&[
        asked,
        said("a1", "u1", "m1", "Yes."),
        user("u2", "a1", "On."),
        said("a2", "u2", "m2", "Ok."),
    ]);
    let session = read(&files);
    let places: Vec<Place> = session.messages[0].blocks.iter().map(|block| block.place.clone()).collect();
    let drop = |places: &[usize], all: &[Place]| -> Vec<Edit> {
        places.iter().map(|n| Edit::Drop { block: all[*n].clone() }).collect()
    };
    for (dropped, left) in [
        (vec![0], "user: b, c"),
        (vec![1], "user: a, c"),
        (vec![2], "user: a, b"),
        (vec![0, 1], "user: c"),
        (vec![1, 2], "user: a"),
        (vec![0, 2], "user: b"),
    ] {
        let written = write(&files, &drop(&dropped, &places));
        assert_eq!(shape(&read(&written))[0], left);
        assert_eq!(lines_of(&written)[1..], lines_of(&files)[1..]);
    }
    let written = write(&files, &drop(&[0, 1, 2], &places));
    assert_eq!(shape(&read(&written)), ["model: Yes.", "user: On.", "model: Ok."]);
    assert!(read(&written).troubles.is_empty());
    let whole = Edit::Drop { block: session.messages[2].blocks[0].place.clone() };
    assert_eq!(shape(&read(&write(&files, &[whole]))), ["user: a, b, c", "model: Yes.", "model: Ok."]);
}

#[test]
fn the_second_of_two_equal_results_is_dropped() {
    let files = file(&[
        user("u1", "", "Look."),
        call("a1", "u1", "m1", "toolu_1"),
        result("r1", "a1", "toolu_1"),
        result("r2", "r1", "toolu_1"),
        said("b1", "r2", "m2", "Done."),
    ]);
    let written = write(&files, &[Edit::Drop { block: on_line(&read(&files), 4) }]);
    let session = read(&written);
    assert_eq!(session.messages.len(), 4);
    assert_accepted(&session);
}

#[test]
fn an_added_result_and_a_drop_after_one_line_leave_one_chain() {
    // The result of the call is missing, and a result without a call is in its place.
    let files = file(&[
        user("u1", "", "Look."),
        call("a1", "u1", "m1", "toolu_1"),
        result("r1", "a1", "toolu_x"),
        said("b1", "r1", "m2", "Done."),
    ]);
    let session = read(&files);
    let edits = [
        Edit::Synthesise { call: on_line(&session, 2), id: "toolu_1".to_owned() },
        Edit::Drop { block: on_line(&session, 3) },
    ];
    let session = read(&write(&files, &edits));
    assert_eq!(
        shape(&session),
        ["user: Look.", "model: call toolu_1", "tool: result toolu_1", "model: Done."]
    );
    assert!(session.troubles.is_empty());
    assert_accepted(&session);
}

#[test]
fn only_unreadable_parts_are_discarded() {
    let healthy = file(&batch());
    let mut torn = healthy.clone();
    torn.files[0].bytes.extend(br#"{"parentUuid":"c1","type":"us"#);
    let mut nul = healthy.clone();
    nul.files[0].bytes.extend([0; 100]);
    let mut inside = healthy.clone();
    let end = inside.main().len() - 1;
    inside.files[0].bytes.splice(end..end, [0; 7]);
    let mut twice = batch();
    twice.insert(6, twice[5].clone());
    for files in [torn, nul, inside, file(&twice)] {
        let session = read(&files);
        assert_eq!(session.troubles.len(), 1);
        let edit = Edit::Discard { place: session.troubles[0].place.clone() };
        assert_eq!(write(&files, &[edit]), healthy);
    }
}

#[test]
fn a_branch_is_truncated_after_the_given_message() {
    let mut lines = batch();
    lines.insert(10, json!({ "type": "last-prompt", "lastPrompt": "x", "leafUuid": "c1" }));
    let files = file(&lines);
    let session = read(&files);
    for n in 0..session.messages.len() - 1 {
        let last = session.messages[n].blocks[0].place.clone();
        let written = write(&files, &[Edit::Truncate { last }]);
        let cut = read(&written);
        assert_eq!(shape(&cut), shape(&session)[..=n], "after message {n}");
        assert!(cut.troubles.is_empty());
        let again = cut.messages[n].blocks[0].place.clone();
        assert_eq!(write(&written, &[Edit::Truncate { last: again }]), written);
    }
}

#[test]
fn a_truncated_branch_is_the_end_despite_a_later_abandoned_fork() {
    let mut lines = batch();
    lines.splice(10..10, [user("x1", "u1", "Given up."), said("x2", "x1", "m7", "Never mind.")]);
    let files = file(&lines);
    let session = read(&files);
    let last = session.messages[3].blocks[0].place.clone();
    let cut = read(&write(&files, &[Edit::Truncate { last }]));
    assert_eq!(shape(&cut), shape(&session)[..4]);
    assert_eq!(cut.off_branch.len(), 2);
    // The same with the fork as a child of the message itself.
    lines[10]["parentUuid"] = json!("b1");
    let files = file(&lines);
    let session = read(&files);
    let last = session.messages[3].blocks[0].place.clone();
    let cut = read(&write(&files, &[Edit::Truncate { last }]));
    assert_eq!(shape(&cut), shape(&session)[..4]);
    assert_eq!(cut.off_branch.len(), 2);
}

#[test]
fn text_in_the_line_of_the_last_result_is_removed() {
    let mut interrupted = result("r1", "a1", "toolu_1");
    let words = json!({ "type": "text", "text": "[Request interrupted by user]" });
    interrupted["message"]["content"].as_array_mut().unwrap().push(words);
    let files = file(&[
        user("u1", "", "Look."),
        call("a1", "u1", "m1", "toolu_1"),
        interrupted,
        said("b1", "r1", "m2", "x"),
    ]);
    let session = read(&files);
    let last = session.messages[2].blocks[0].place.clone();
    let cut = read(&write(&files, &[Edit::Truncate { last }]));
    assert_eq!(shape(&cut), ["user: Look.", "model: call toolu_1", "tool: result toolu_1"]);
}

#[test]
fn no_edits_leave_all_bytes_unchanged() {
    let files = file(&batch());
    assert_eq!(write(&files, &[]), files);
}

#[test]
fn an_edit_of_a_missing_block_is_rejected() {
    let files = file(&batch());
    let session = read(&files);
    let nowhere = Place::in_line(99, 0..1, "/message/content/0");
    for edit in [
        Edit::Drop { block: nowhere.clone() },
        Edit::Truncate { last: nowhere.clone() },
        Edit::Synthesise { call: nowhere.clone(), id: "toolu_1".to_owned() },
        Edit::Move { result: on_line(&session, 6), call: on_line(&session, 5), id: "toolu_3".to_owned() },
        Edit::Discard { place: Place::in_line(1, 0..10_000_000, "") },
    ] {
        let error = ClaudeCode.write(&files, &session, &[edit]).unwrap_err();
        assert!(error.to_string().starts_with("Claude Code at line "), "{error}");
    }
}
