use serde_json::{Value, json};

use super::*;
use crate::{Verdict, judge};

/// The verdict on each conversation of a file, the rules that it breaks, and the names that were not understood.
fn verdicts(text: &str) -> Vec<(Verdict, Vec<&'static str>, Vec<String>)> {
    let judged = |session: &Session| {
        let judgement = judge(session, None);
        let rules =
            judgement.refusals.iter().filter_map(|refusal| refusal.rule).map(|rule| rule.id).collect();
        (judgement.verdict, rules, session.foreign.keys.clone())
    };
    sessions(&Files::one("store.json", text)).iter().map(judged).collect()
}

fn only(messages: &Value) -> (Verdict, Vec<&'static str>, Vec<String>) {
    let mut found = verdicts(&json!({ "version": 3, "chat": { "history": messages } }).to_string());
    assert_eq!(found.len(), 1, "{messages}");
    found.remove(0)
}

/// The same conversation as programs store it: with its result, without it.
fn forms() -> Vec<(&'static str, Option<&'static str>, Value, Value)> {
    let ask = || json!({ "role": "user", "content": "Look." });
    let more = || json!({ "role": "user", "content": "And now?" });
    vec![
        // AstrBot: `conversations.content` of its database.
        (
            "chat",
            Some("openai-chat/tool-message-missing"),
            json!([ask(), { "role": "assistant", "content": null, "tool_calls": [{ "id": "c1", "type": "function", "function": { "name": "find", "arguments": "{}" } }] }]),
            json!([{ "role": "tool", "tool_call_id": "c1", "content": "sun" }, more()]),
        ),
        // avante.nvim: `messages[].message` of its history files.
        (
            "blocks in a record",
            Some("anthropic-messages/tool-result-missing"),
            json!([{ "uuid": "u1", "message": ask() }, { "uuid": "u2", "message": { "role": "assistant", "content": [{ "type": "tool_use", "id": "t1", "name": "find", "input": {} }] } }]),
            json!([{ "uuid": "u3", "message": { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t1", "content": "sun" }] } }, { "uuid": "u4", "message": more() }]),
        ),
        // Fields in camel case, and results in a list of their own.
        (
            "camel case",
            Some("openai-chat/tool-message-missing"),
            json!([{ "type": "human", "text": "Look." }, { "type": "ai", "text": "", "toolCalls": [{ "toolCallId": "c1", "toolName": "find", "args": {} }] }]),
            json!([{ "type": "tool", "toolCallId": "c1", "result": "sun" }, { "type": "human", "text": "And now?" }]),
        ),
        (
            "parts of Gemini",
            None,
            json!([{ "role": "user", "parts": [{ "text": "Look." }] }, { "role": "model", "parts": [{ "functionCall": { "name": "find", "args": {} } }] }]),
            json!([{ "role": "user", "parts": [{ "functionResponse": { "name": "find", "response": { "w": "sun" } } }] }, { "role": "user", "parts": [{ "text": "And now?" }] }]),
        ),
        // Items of Responses with a speaker only in messages.
        (
            "items",
            Some("openai-chat/tool-message-missing"),
            json!([ask(), { "type": "function_call", "call_id": "c1", "name": "find", "arguments": "{}" }]),
            json!([{ "type": "function_call_output", "call_id": "c1", "output": "sun" }, { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Sun." }] }, more()]),
        ),
    ]
}

#[test]
fn calls_and_results_are_paired_in_every_form() {
    for (name, rule, calls, results) in forms() {
        let (calls, results) = (calls.as_array().unwrap().clone(), results.as_array().unwrap().clone());
        let sound = json!([calls.clone(), results.clone()].concat());
        assert_eq!(only(&sound), (Verdict::Accepted, vec![], vec![]), "{name}");
        // Gemini takes a call without any response.
        let Some(rule) = rule else { continue };
        let broken = json!([calls, results[1..].to_vec()].concat());
        let (verdict, rules, foreign) = only(&broken);
        assert_eq!((verdict, foreign), (Verdict::Refused, vec![]), "{name}");
        assert!(rules.contains(&rule), "{name}: {rules:?}");
    }
}

#[test]
fn a_call_may_have_its_result_beside_it() {
    let call = |more: Value| {
        let mut part =
            json!({ "type": "tool-find", "toolCallId": "c1", "state": "output-available", "input": {} });
        part.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let reply = json!({ "role": "assistant", "data": { "parts": [part] } });
        json!([{ "role": "user", "data": { "parts": [{ "type": "text", "text": "Look." }] } }, reply, { "role": "user", "data": { "parts": [{ "type": "text", "text": "More." }] } }])
    };
    assert_eq!(only(&call(json!({ "output": "sun" }))).0, Verdict::Accepted);
    assert_eq!(only(&call(json!({ "state": "input-available" }))).0, Verdict::Refused);
}

/// Messages as neuron-ai stores them (`src/Chat/Messages/ToolCallResultMessage.php` of
/// <https://github.com/neuron-core/neuron-ai>).
#[test]
fn results_may_repeat_the_calls() {
    let tools = |result: Value| json!([{ "name": "find", "inputs": {}, "callId": "c1", "result": result }]);
    let call =
        json!({ "role": "assistant", "content": null, "type": "tool_call", "tools": tools(json!(null)) });
    let result =
        json!({ "role": "user", "content": null, "type": "tool_call_result", "tools": tools(json!("sun")) });
    let ask = json!({ "role": "user", "content": "Look." });
    assert_eq!(only(&json!([ask, call, result, ask])), (Verdict::Accepted, vec![], vec![]));
    assert_eq!(only(&json!([ask, call, ask])).0, Verdict::Refused);
}

#[test]
fn lines_and_texts_with_json_are_searched() {
    let (_, _, calls, results) = forms().remove(1);
    let all: Vec<Value> = [calls.as_array().unwrap().clone(), results.as_array().unwrap().clone()].concat();
    let lines: Vec<String> =
        all.iter().map(|line| json!({ "t": 1, "payload": line["message"] }).to_string()).collect();
    assert_eq!(verdicts(&lines.join("\n")), [(Verdict::Accepted, vec![], vec![])]);
    let text = json!({ "key": "chat", "value": json!(all).to_string() }).to_string();
    assert_eq!(verdicts(&text), [(Verdict::Accepted, vec![], vec![])]);
    let session = sessions(&Files::one("x.jsonl", lines[..2].join("\n"))).remove(0);
    assert_eq!(session.messages[1].place.to_string(), "line 2");
}

#[test]
fn nothing_is_said_about_forms_ids_names_and_blanks() {
    let call = json!([{ "id": "functions.find:0 of this session, with a long id that no provider takes", "name": "Find a file", "arguments": "cut {" }]);
    let reply = json!({ "role": "assistant", "content": " ", "tool_calls": call });
    let result = json!({ "role": "tool", "tool_call_id": call[0]["id"], "content": "" });
    let messages = json!([{ "role": "user", "content": "" }, reply, result, { "role": "assistant", "content": "" }, { "role": "user", "content": "Hi" }]);
    assert_eq!(only(&messages), (Verdict::Accepted, vec![], vec![]));
}

#[test]
fn calls_that_are_not_understood_leave_the_judgement_open() {
    let reply = json!({ "role": "assistant", "content": "", "toolLog": [{ "x": 1 }] });
    let messages = json!([{ "role": "user", "content": "Look." }, reply]);
    assert_eq!(only(&messages).0, Verdict::Incomplete);
    let offer = json!({ "role": "assistant", "content": "Hi", "tools": [{ "name": "find", "description": "Finds." }] });
    assert_eq!(only(&json!([{ "role": "user", "content": "Look." }, offer])).0, Verdict::Accepted);
}

#[test]
fn results_at_another_place_are_not_called_missing() {
    let (_, _, calls, results) = forms().remove(0);
    let (ask, call) = (calls[0].clone(), calls[1].clone());
    let mut other = call.clone();
    other["tool_calls"][0]["id"] = json!("c2");
    let messages = json!([ask, call, ask, other, ask]);
    assert_eq!(only(&messages), (Verdict::Incomplete, vec![], vec!["results".to_owned()]));
    let one = json!([ask, call, results[0], ask, other, ask]);
    assert_eq!(only(&one).0, Verdict::Refused);
}

#[test]
fn trees_and_other_lists_are_no_conversation() {
    let fork = json!([
        { "id": "a", "parentId": null, "role": "user", "content": "Look." },
        { "id": "b", "parentId": "a", "role": "assistant", "content": "One." },
        { "id": "c", "parentId": "a", "role": "assistant", "content": "Two." },
    ]);
    for text in [
        json!({ "history": fork }).to_string(),
        json!([{ "type": "user", "name": "Ann" }, { "type": "user", "name": "Bo" }]).to_string(),
        json!({ "roles": [{ "role": "user", "content": "only one side" }, { "role": "user", "content": "twice" }] }).to_string(),
        "no JSON".to_owned(),
        "[".repeat(20_000),
        format!("{{\"a\":{}1{}}}", "[".repeat(20_000), "]".repeat(20_000)),
        String::new(),
    ] {
        assert_eq!(verdicts(&text), [], "{}", &text[..text.len().min(60)]);
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn rows_and_cells_of_a_database_are_read() {
    let mut database = rusqlite::Connection::open_in_memory().unwrap();
    database
        .execute_batch(
            "CREATE TABLE msgs (id INTEGER PRIMARY KEY, thread_id TEXT, role TEXT, content TEXT, tool_calls TEXT, \
             tool_call_id TEXT, created_at TEXT, deleted_at TEXT); CREATE TABLE chats (id TEXT, body TEXT);",
        )
        .unwrap();
    let call = r#"[{"id":"c1","type":"function","function":{"name":"find","arguments":"{}"}}]"#;
    let insert = "INSERT INTO msgs (thread_id, role, content, tool_calls, tool_call_id, created_at, deleted_at) \
                  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    type Line<'a> = (&'a str, &'a str, &'a str, Option<&'a str>, Option<&'a str>, i64, Option<&'a str>);
    let rows: [Line<'_>; 9] = [
        ("a", "user", "Look.", None, None, 1, None),
        ("a", "assistant", "", Some(call), None, 2, None),
        // Written later, and earlier in time.
        ("a", "user", "And now?", None, None, 4, None),
        ("a", "tool", "sun", None, Some("c1"), 3, None),
        ("a", "user", "Taken back.", None, None, 5, Some("2026-01-01")),
        ("b", "user", "Look.", None, None, 1, None),
        ("b", "assistant", "", Some(call), None, 2, None),
        ("b", "tool", "sun", None, Some("c1"), 3, Some("2026-01-01")),
        ("b", "user", "And now?", None, None, 4, None),
    ];
    for (thread, role, content, calls, id, time, deleted) in rows {
        database.execute(insert, rusqlite::params![thread, role, content, calls, id, time, deleted]).unwrap();
    }
    let (_, _, calls, results) = forms().remove(0);
    let all: Vec<Value> = [calls.as_array().unwrap().clone(), results.as_array().unwrap().clone()].concat();
    database.execute("INSERT INTO chats VALUES ('x', ?1)", [json!({ "list": all }).to_string()]).unwrap();
    let bytes = database.serialize(rusqlite::MAIN_DB).unwrap().to_vec();
    let files = Files { files: vec![crate::File { name: "store.db".to_owned(), bytes }] };
    let found = sessions(&files);
    let shown = |session: &Session| (session.id.clone().unwrap(), judge(session, None).verdict);
    let shown: Vec<(String, Verdict)> = found.iter().map(shown).collect();
    let expected = [("x", Verdict::Accepted), ("a", Verdict::Accepted), ("b", Verdict::Refused)];
    assert_eq!(shown, expected.map(|(id, verdict)| (id.to_owned(), verdict)));
    assert_eq!(found[2].messages[1].place.to_string(), "row 7 of msgs");
}
