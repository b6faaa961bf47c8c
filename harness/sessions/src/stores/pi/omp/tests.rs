use super::super::Pi;
use super::*;
use crate::stores::testing::Tested;
use crate::stores::{Edit, Store};
use crate::{Files, Verdict};

const TITLE: &str =
    r#"{"type":"title","v":1,"title":"Two files","source":"auto","updatedAt":"t0","pad":"      "}"#;
const HEADER: &str = r#"{"type":"session","version":3,"id":"s1","timestamp":"t0","cwd":"/w"}"#;
const MODEL: &str = r#"{"type":"model_change","id":"m1","parentId":null,"timestamp":"t0","model":"anthropic/claude-sonnet-4-5"}"#;
const OMP: Tested = Tested(&Pi);

/// The lines of a session. Each is the child of the one before it.
fn omp(lines: &[Value]) -> Files {
    let mut text = format!("{TITLE}\n{HEADER}\n{MODEL}\n");
    let mut parent = "m1".to_owned();
    for (n, line) in lines.iter().enumerate() {
        let id = format!("e{n}");
        let mut line = line.clone();
        line["id"] = json!(id);
        line["parentId"] = json!(parent);
        line["timestamp"] = json!("t1");
        text.push_str(&format!("{line}\n"));
        parent = id;
    }
    Files::one("2026_s1.jsonl", text)
}

fn message(message: Value) -> Value {
    json!({ "type": "message", "message": message })
}

fn ask(words: &str) -> Value {
    message(json!({ "role": "user", "content": words }))
}

fn reply(stop: &str, calls: &[&str]) -> Value {
    let calls =
        calls.iter().map(|id| json!({ "type": "toolCall", "id": id, "name": "read", "arguments": {} }));
    let content: Vec<Value> = [json!({ "type": "text", "text": "Both." })].into_iter().chain(calls).collect();
    message(json!({
        "role": "assistant", "api": "anthropic-messages", "provider": "anthropic", "model": "claude-sonnet-4-5",
        "content": content, "stopReason": stop,
    }))
}

fn answer(call: &str) -> Value {
    let content = json!([{ "type": "text", "text": format!("of {call}") }]);
    message(
        json!({ "role": "toolResult", "toolCallId": call, "toolName": "read", "content": content, "isError": false }),
    )
}

/// The sent blocks, each as a few words, and the changes before they are sent.
fn sent(lines: &[Value]) -> (Vec<String>, Vec<(&'static str, usize)>) {
    let (session, judgement) = OMP.judged(&omp(lines));
    assert_eq!(session.fork, Some(NAME));
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    let word = |block: &Block| match &block.content {
        histories::Block::Call(call) => format!("call {}", call.id),
        histories::Block::Result(result) => format!("result {}", result.call),
        histories::Block::Text(words) => words.clone(),
        _ => "other".to_owned(),
    };
    let blocks = judgement.sent.messages.iter().flat_map(|message| &message.blocks);
    (blocks.map(word).collect(), judgement.sent.mended)
}

#[test]
fn the_line_with_the_title_is_not_the_header() {
    let files = omp(&[ask("Compare."), reply("toolUse", &["a"]), answer("a"), reply("stop", &[])]);
    assert!(Pi.owns(&crate::stores::Look::of(&files)));
    let (session, judgement) = OMP.judged(&files);
    assert_eq!((session.fork, judgement.verdict), (Some(NAME), Verdict::Accepted));
    assert_eq!(session.model.as_deref(), Some("claude-sonnet-4-5"));
    assert!(session.unknown.is_empty() && session.troubles.is_empty());
}

#[test]
fn calls_without_a_result_are_left_out() {
    let lines =
        [ask("Compare."), reply("toolUse", &["a", "b"]), answer("a"), ask("And?"), reply("stop", &[])];
    let (words, changes) = sent(&lines);
    assert_eq!(words, ["Compare.", "Both.", "call a", "result a", "And?", "Both."]);
    assert_eq!(changes, [("leaves out calls without a result", 1)]);
}

#[test]
fn a_stopped_reply_is_left_out_with_its_results() {
    let lines = [ask("Compare."), reply("aborted", &["a"]), answer("a"), ask("And?"), reply("stop", &[])];
    let (words, changes) = sent(&lines);
    assert_eq!(words, ["Compare.", "And?", "Both."]);
    assert_eq!(changes, [("leaves out replies that failed or were stopped", 1)]);
}

#[test]
fn a_result_without_a_call_becomes_text() {
    let (words, changes) = sent(&[ask("Compare."), answer("gone"), ask("And?"), reply("stop", &[])]);
    assert_eq!(words, ["Compare.", "of gone", "And?", "Both."]);
    assert_eq!(changes, [("leaves out results without a call, or turns them into text", 1)]);
}

#[test]
fn a_late_result_is_moved_and_a_second_one_is_dropped() {
    let lines = [
        ask("Compare."),
        reply("toolUse", &["a"]),
        ask("Stop."),
        answer("a"),
        answer("a"),
        reply("stop", &[]),
    ];
    let (words, changes) = sent(&lines);
    assert_eq!(words, ["Compare.", "Both.", "call a", "result a", "Stop.", "Both."]);
    assert_eq!(changes, [("moves results to their calls", 1)]);
}

#[test]
fn a_repeated_id_gets_an_ending() {
    let lines = [
        ask("Compare."),
        reply("toolUse", &["a"]),
        answer("a"),
        reply("toolUse", &["a"]),
        answer("a"),
        reply("stop", &[]),
    ];
    let (words, changes) = sent(&lines);
    assert_eq!(
        words,
        ["Compare.", "Both.", "call a", "result a", "Both.", "call a_dup1", "result a_dup1", "Both."]
    );
    assert_eq!(changes, [("renames repeated ids", 1)]);
}

#[test]
fn a_call_without_a_name_is_left_out_with_its_result() {
    let mut nameless = reply("toolUse", &["a"]);
    nameless["message"]["content"][1]["name"] = json!(" ");
    let (words, changes) = sent(&[ask("Compare."), nameless, answer("a"), ask("And?"), reply("stop", &[])]);
    assert_eq!(words, ["Compare.", "Both.", "And?", "Both."]);
    assert_eq!(changes, [("leaves out calls without a name or an id", 1)]);
}

#[test]
fn nothing_before_a_clear_is_sent() {
    let lines = [
        ask("Old."),
        reply("toolUse", &["a"]),
        json!({ "type": RESET }),
        answer("a"),
        ask("New."),
        reply("stop", &[]),
    ];
    let (words, _) = sent(&lines);
    assert_eq!(words, ["of a", "New.", "Both."]);
}

#[test]
fn an_edit_keeps_the_line_with_the_title() {
    let files = omp(&[ask("Compare."), reply("toolUse", &["a"]), ask("And?"), reply("stop", &[])]);
    let (session, _) = OMP.judged(&files);
    let call = session.messages[1].blocks[1].place.clone();
    let written = OMP.written(&files, Edit::Synthesise { call, id: "a".to_owned() });
    assert!(written.main().starts_with(TITLE.as_bytes()));
    assert!(OMP.judged(&written).1.sent.mended.is_empty());
}
