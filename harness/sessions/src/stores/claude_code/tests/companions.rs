//! Files next to the session that may contain a real result.

use super::*;
use crate::File;

/// A batch without its third result.
fn without_result() -> Files {
    let mut lines = batch();
    lines.remove(6);
    file(&lines)
}

fn add(files: &mut Files, name: &str, bytes: impl Into<Vec<u8>>) {
    files.files.push(File { name: name.to_owned(), bytes: bytes.into() });
}

#[test]
fn a_result_that_was_too_large_is_found_next_to_the_session() {
    let mut files = without_result();
    add(&mut files, "s1/tool-results/toolu_1.txt", "answered in the session");
    add(&mut files, "s1/tool-results/toolu_3.txt", "large");
    let session = read(&files);
    let found: Vec<String> = session.off_branch.iter().map(shape_of).collect();
    assert_eq!(found, ["tool: result toolu_3"]);
    let result = session.off_branch[0].results().next().unwrap();
    assert_eq!((result.text().as_str(), result.name.as_str()), ("large", "Read"));
    let place = &session.off_branch[0].blocks[0].place;
    assert_eq!((place.file, place.line, place.start, place.end), (2, None, 0, 5));
}

#[test]
fn messages_of_sub_agents_are_off_the_branch() {
    let mut files = file(&batch());
    let agent = |line: Value| with(line, json!({ "isSidechain": true }));
    let lines = [
        agent(user("g1", "", "Search.")),
        agent(call("g2", "g1", "n1", "toolu_7")),
        agent(result("g3", "g2", "toolu_7")),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    add(&mut files, "s1/subagents/agent-7.jsonl", lines);
    add(&mut files, "s1/subagents/agent-7.meta.json", "{}");
    let session = read(&files);
    let found: Vec<String> = session.off_branch.iter().map(shape_of).collect();
    assert_eq!(found, ["user: Search.", "model: call toolu_7", "tool: result toolu_7"]);
    assert!(session.off_branch.iter().all(|message| message.place.file == 1));
    assert_accepted(&session);
}

#[test]
fn a_result_in_display_form_only_is_found() {
    let mut lines = batch();
    let shown = json!({ "toolUseResult": { "stdout": "so" }, "sourceToolAssistantUUID": "a4" });
    lines[6] = with(user("r3", "a4", "shown"), shown);
    let session = read_lines(&lines);
    assert_eq!(rules(&judge(&session, None)), ["anthropic-messages/tool-result-missing"]);
    let found = session.off_branch.iter().flat_map(crate::Message::results).next().unwrap();
    assert_eq!((found.call.as_str(), found.text().as_str()), ("toolu_3", r#"{"stdout":"so"}"#));
    let place =
        session.off_branch.iter().find(|message| message.results().count() == 1).unwrap().place.clone();
    assert_eq!((place.pointer.as_str(), place.line), ("/toolUseResult", Some(7)));
}

#[test]
fn results_found_next_to_the_session_are_moved_into_it() {
    use crate::Edit;
    let mut lines = batch();
    let shown = json!({ "toolUseResult": "so", "sourceToolAssistantUUID": "a4" });
    lines[6] = with(user("r3", "a4", "shown"), shown);
    let displayed = file(&lines);
    let mut saved = without_result();
    add(&mut saved, "s1/tool-results/toolu_3.txt", "large \"quoted\"\n");
    for (files, words) in [(displayed, "so"), (saved, "large \"quoted\"\n")] {
        let session = read(&files);
        let found = session.off_branch.iter().find(|message| message.results().count() == 1).unwrap();
        let calls = session.messages.iter().flat_map(|message| &message.blocks);
        let mut calls = calls.filter(|block| block.place.line == Some(5));
        let call = calls.next().unwrap().place.clone();
        let edit = Edit::Move { result: found.blocks[0].place.clone(), call, id: "toolu_3".to_owned() };
        let written = ClaudeCode.write(&files, &session, &[edit]).unwrap();
        let session = read(&written);
        assert_accepted(&session);
        let results = session.messages[2].results();
        assert!(results.into_iter().any(|result| result.call == "toolu_3" && result.text() == words));
        assert_eq!(written.files[1..], files.files[1..]);
    }
}
