//! Tests of the third generation.

use super::*;

fn database_of_events(rows: &[(&str, Value)]) -> Files {
    let connection = Connection::open_in_memory().unwrap();
    let tables = "CREATE TABLE session_v2 (id TEXT PRIMARY KEY);
        CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER,
            time_created INTEGER, time_updated INTEGER, data TEXT);
        INSERT INTO session_v2 VALUES ('ses_1');";
    connection.execute_batch(tables).unwrap();
    // Events are ordered by `seq`, whatever the order of the rows.
    for (n, (kind, data)) in rows.iter().enumerate().rev() {
        let values = (format!("msg_{n}"), kind, n as i64, data.to_string());
        connection
            .execute("INSERT INTO session_message VALUES (?1, 'ses_1', ?2, ?3, 1, 1, ?4)", values)
            .unwrap();
    }
    bytes_of(connection)
}

fn model() -> Value {
    json!({ "providerID": "anthropic", "id": "claude-sonnet-4-5" })
}

fn tool(id: &str, state: Value) -> Value {
    json!({ "type": "tool", "id": id, "name": "list", "state": state, "time": { "created": 1 } })
}

fn ended(id: &str) -> Value {
    let content = json!([{ "type": "text", "text": "x" }]);
    tool(id, json!({ "status": "completed", "input": {}, "content": content, "structured": {} }))
}

fn running(id: &str) -> Value {
    tool(id, json!({ "status": "running", "input": { "path": "a" }, "content": [], "structured": {} }))
}

fn conversation(items: Vec<Value>) -> Vec<(&'static str, Value)> {
    vec![
        ("model-switched", json!({ "model": model() })),
        ("user", json!({ "text": "List both." })),
        ("assistant", json!({ "agent": "build", "model": model(), "content": items })),
        ("user", json!({ "text": "Go on." })),
    ]
}

#[test]
fn event_rows_are_read_in_the_order_of_their_numbers() {
    let thought = json!({ "type": "reasoning", "id": "r", "text": "hm", "providerMetadata": { "anthropic": { "signature": "EqQB" } } });
    let text = json!({ "type": "text", "id": "t", "text": "Both." });
    let files = database_of_events(&conversation(vec![thought, text, ended("toolu_1"), ended("toolu_2")]));
    let session = one(&files);
    assert_eq!(session.generation, "SQLite rows of events");
    assert_eq!(session.dialect, Some(Dialect::AnthropicMessages));
    let judgement = judge(&session, None);
    assert_eq!(shape(&judgement), "Ut Ahtcc Trr Ut");
    assert_eq!(judgement.verdict, Verdict::Accepted);
}

#[test]
fn an_open_call_is_sent_unchanged_and_rejected() {
    let files = database_of_events(&conversation(vec![ended("toolu_1"), running("toolu_2")]));
    let session = one(&files);
    let judgement = judge(&session, None);
    assert_eq!(rules(&judgement), ["anthropic-messages/tool-result-missing"]);
    assert_eq!(judgement.refusals[0].place, Some(place_of_call(&session, "toolu_2")));
    assert_eq!(store_of(Product::Opencode).unwrap().fills_open_tail(&session), None);

    let edit = Edit::Synthesise { call: place_of_call(&session, "toolu_2"), id: "toolu_2".to_owned() };
    let written = write(&files, std::slice::from_ref(&edit));
    assert_eq!(shape(&judged(&written)), "Ut Acc Tre Ut");
    assert_eq!(judged(&written).verdict, Verdict::Accepted);
    assert!(write(&written, &[edit]) == written);
}

#[test]
fn items_and_rows_can_be_removed() {
    let text = json!({ "type": "text", "id": "t", "text": "\n\n" });
    let files = database_of_events(&conversation(vec![text.clone(), ended("toolu_1")]));
    let block = one(&files).messages[1].blocks[0].place.clone();
    assert_eq!(shape(&judged(&write(&files, &[Edit::Drop { block: block.clone() }]))), "Ut Ac Tr Ut");
    assert_eq!(shape(&judged(&write(&files, &[Edit::Truncate { last: block }]))), "Ut Atc Tr");
    let files = database_of_events(&conversation(vec![text]));
    let block = judged(&files).refusals[0].place.clone().unwrap();
    assert_eq!(shape(&judged(&write(&files, &[Edit::Drop { block }]))), "Ut Ut");
}

#[test]
fn a_compaction_replaces_everything_before_it() {
    let mut rows = conversation(vec![ended("toolu_1")]);
    rows.push(("compaction", json!({ "reason": "auto", "summary": "Listed.", "recent": "" })));
    rows.push(("shell", json!({ "callID": "c", "command": "ls", "output": "a" })));
    let session = one(&database_of_events(&rows));
    assert_eq!(shape_of(&session.messages), "Ut Ut");
    assert_eq!(shape_of(&session.off_branch), "Ut Ac Tr Ut");
    assert_eq!(session.n_compactions, 1);
}

#[test]
fn a_row_of_an_unknown_type_is_not_judged() {
    let mut rows = conversation(vec![ended("toolu_1")]);
    rows.push(("dream", json!({ "text": "secret" })));
    let words = "opencode: a row of session_message has an unknown type";
    assert_eq!(crate::read(&database_of_events(&rows)).unwrap_err().to_string(), words);
}

#[test]
fn without_new_sessions_the_old_rows_are_the_conversation() {
    let connection = database();
    healthy().insert_into(&connection);
    let table = "CREATE TABLE session_message (id TEXT, session_id TEXT, type TEXT, seq INTEGER, data TEXT);
        INSERT INTO session_message VALUES ('msg_9', 'ses_1', 'user', 0, '{\"text\":\"x\"}');";
    connection.execute_batch(table).unwrap();
    assert_eq!(one(&bytes_of(connection)).generation, "SQLite rows");
}
