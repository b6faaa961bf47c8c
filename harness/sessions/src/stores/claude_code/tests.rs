//! Hand-written sessions: small trees modelled on real files.

mod branches;
mod companions;
mod faults;
mod hostile;
mod sending;
mod writing;

use serde_json::{Value, json};

use super::ClaudeCode;
use crate::stores::Store;
use crate::{Files, Judgement, Session, Verdict, judge};

/// A line with these fields. An empty `parent` means none.
fn line(uuid: &str, parent: &str, fields: Value) -> Value {
    let parent = if parent.is_empty() { Value::Null } else { json!(parent) };
    let mut line = json!({
        "parentUuid": parent,
        "isSidechain": false,
        "userType": "external",
        "cwd": "/w",
        "sessionId": "s1",
        "version": "2.1.39",
        "uuid": uuid,
        "timestamp": "2026-02-01T00:00:00.000Z",
    });
    for (name, value) in fields.as_object().unwrap() {
        line[name] = value.clone();
    }
    line
}

fn user(uuid: &str, parent: &str, words: &str) -> Value {
    line(uuid, parent, json!({ "type": "user", "message": { "role": "user", "content": words } }))
}

/// One block in a reply.
fn reply(uuid: &str, parent: &str, id: &str, block: Value) -> Value {
    let message = json!({ "id": id, "role": "assistant", "model": "claude-sonnet-4-5", "content": [block] });
    line(uuid, parent, json!({ "type": "assistant", "message": message }))
}

fn said(uuid: &str, parent: &str, id: &str, words: &str) -> Value {
    reply(uuid, parent, id, json!({ "type": "text", "text": words }))
}

fn thought(uuid: &str, parent: &str, id: &str, words: &str) -> Value {
    reply(uuid, parent, id, json!({ "type": "thinking", "thinking": words, "signature": "c2lnbmVk" }))
}

fn call(uuid: &str, parent: &str, id: &str, call: &str) -> Value {
    reply(uuid, parent, id, json!({ "type": "tool_use", "id": call, "name": "Read", "input": { "n": 1 } }))
}

fn result(uuid: &str, parent: &str, call: &str) -> Value {
    let block = json!({ "type": "tool_result", "tool_use_id": call, "content": format!("out of {call}") });
    let message = json!({ "role": "user", "content": [block] });
    line(uuid, parent, json!({ "type": "user", "message": message, "toolUseResult": "shown" }))
}

fn boundary(uuid: &str, before: &str) -> Value {
    line(uuid, "", json!({ "type": "system", "subtype": "compact_boundary", "logicalParentUuid": before }))
}

fn summary(uuid: &str, parent: &str) -> Value {
    let mut line = user(uuid, parent, "So far: all was well.");
    line["isCompactSummary"] = json!(true);
    line
}

/// A line with additional fields.
fn with(mut line: Value, fields: Value) -> Value {
    for (name, value) in fields.as_object().unwrap() {
        line[name] = value.clone();
    }
    line
}

/// A batch of three calls after thinking. Each block has its own line, each result is a child of its own
/// call, and the next reply is a child of the second result.
fn batch() -> Vec<Value> {
    vec![
        user("u1", "", "Look."),
        thought("a1", "u1", "m1", "Three files."),
        call("a2", "a1", "m1", "toolu_1"),
        call("a3", "a2", "m1", "toolu_2"),
        call("a4", "a3", "m1", "toolu_3"),
        result("r1", "a2", "toolu_1"),
        result("r3", "a4", "toolu_3"),
        result("r2", "a3", "toolu_2"),
        said("b1", "r2", "m2", "All three are fine."),
        user("u2", "b1", "Thanks."),
        said("c1", "u2", "m3", "You are welcome."),
    ]
}

fn file(lines: &[Value]) -> Files {
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    Files::one("s1.jsonl", lines)
}

fn read(files: &Files) -> Session {
    assert!(ClaudeCode.recognises(files));
    ClaudeCode.read(files).unwrap().remove(0)
}

fn read_lines(lines: &[Value]) -> Session {
    read(&file(lines))
}

/// The session as text, one line per message with its role.
fn shape(session: &Session) -> Vec<String> {
    session.messages.iter().map(shape_of).collect()
}

fn shape_of(message: &crate::Message) -> String {
    use brickbat_rules::histories::{Block, Role};
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "model",
        Role::Tool => "tool",
    };
    let blocks = message.blocks.iter().map(|block| match &block.content {
        Block::Text(words) => words.clone(),
        Block::Thinking(_) => "thinking".to_owned(),
        Block::Call(call) => format!("call {}", call.id),
        Block::Result(result) => format!("result {}", result.call),
        Block::Image(_) => "image".to_owned(),
        Block::Native { value, .. } => value["type"].as_str().unwrap_or("?").to_owned(),
    });
    format!("{role}: {}", blocks.collect::<Vec<_>>().join(", "))
}

/// The ids of the broken rules.
fn rules(judgement: &Judgement) -> Vec<&'static str> {
    judgement.refusals.iter().map(|refusal| refusal.rule.map_or("gives up", |rule| rule.id)).collect()
}

fn assert_accepted(session: &Session) {
    let judgement = judge(session, None);
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?} {:?}", rules(&judgement), shape(session));
}

fn words_of_troubles(session: &Session) -> Vec<&str> {
    session.troubles.iter().map(|trouble| trouble.words.as_str()).collect()
}
