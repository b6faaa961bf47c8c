use rusqlite::{Connection, MAIN_DB};
use serde_json::{Value, json};

use super::*;
use crate::stores::testing::{assert_accepted_as_stored, call_of, result_of, rules};
use crate::{Judgement, NOT_RECORDED, Verdict, judge, read};

const SCHEMA: &str = "
    CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP, updated_at TIMESTAMP);
    CREATE TABLE agent_messages (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, message_data TEXT NOT NULL,
        created_at TIMESTAMP,
        FOREIGN KEY (session_id) REFERENCES agent_sessions (session_id) ON DELETE CASCADE
    );
    INSERT INTO agent_sessions (session_id) VALUES ('a'), ('b');";

/// A database with these items in session `a`, and one item of session `b` before and after them.
fn store(items: &[Value]) -> Files {
    let mut connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    let insert = |session: &str, text: String| {
        let query = "INSERT INTO agent_messages (session_id, message_data, created_at) VALUES (?1, ?2, 't')";
        connection.execute(query, [session, &text]).unwrap();
    };
    insert("b", user("one").to_string());
    for item in items {
        insert("a", item.as_str().map_or_else(|| item.to_string(), str::to_owned));
    }
    insert("b", user("two").to_string());
    Files::one("chat.db", connection.serialize(MAIN_DB).unwrap().to_vec())
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn said(id: &str, text: &str) -> Value {
    let content = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
    json!({ "id": id, "type": "message", "role": "assistant", "status": "completed", "content": content })
}

fn thought(id: &str) -> Value {
    json!({ "id": id, "type": "reasoning", "summary": [], "encrypted_content": "e" })
}

fn call(id: &str) -> Value {
    let item = format!("fc_{id}");
    json!({ "type": "function_call", "id": item, "call_id": id, "name": "look", "arguments": "{}" })
}

fn output(id: &str) -> Value {
    json!({ "type": "function_call_output", "call_id": id, "output": format!("saw {id}") })
}

fn batch() -> Vec<Value> {
    vec![
        user("hi"),
        thought("rs_1"),
        call("call_1"),
        call("call_2"),
        output("call_1"),
        output("call_2"),
        thought("rs_2"),
        said("msg_1", "done"),
        user("more"),
    ]
}

fn session_a(files: &Files) -> Session {
    assert!(OpenaiAgents.recognises(files));
    crate::read(files).unwrap().into_iter().find(|session| session.id.as_deref() == Some("a")).unwrap()
}

fn judged(items: &[Value]) -> Judgement {
    judge(&session_a(&store(items)), None)
}

/// All rows of all sessions, as `id session item`.
fn rows(files: &Files) -> Vec<(i64, String, String)> {
    let database = Database::open(files).unwrap();
    let query = "SELECT id, session_id, message_data FROM agent_messages ORDER BY id";
    let mut statement = database.connection().prepare(query).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

fn items(files: &Files) -> Vec<Value> {
    let rows = rows(files).into_iter().filter(|(_, session, _)| session == "a");
    rows.map(|(_, _, item)| serde_json::from_str(&item).unwrap()).collect()
}

/// The place of a call or a result in session `a`.
fn place(files: &Files, is_meant: impl Fn(&Content) -> bool) -> Place {
    let session = session_a(files);
    let blocks = session.messages.iter().flat_map(|message| &message.blocks);
    blocks.filter(|block| is_meant(&block.content)).map(|block| block.place.clone()).next().unwrap()
}

fn write(files: &Files, edit: Edit) -> Files {
    OpenaiAgents.write(files, &session_a(files), &[edit]).unwrap()
}

#[test]
fn a_parallel_batch_with_reasoning_is_accepted() {
    let judgement = judged(&batch());
    assert_accepted_as_stored(&judgement);
}

#[test]
fn a_healthy_session_is_sent_as_stored() {
    let judgement = judged(&batch());
    assert_eq!(judgement.request()["input"][7], said("msg_1", "done"));
    assert_eq!(judgement.request()["input"][2], call("call_1"));
    assert_eq!(judgement.request()["input"].as_array().unwrap().len(), batch().len());
}

#[test]
fn one_reply_is_one_message_and_so_are_its_results() {
    let session = session_a(&store(&batch()));
    let shape: Vec<(Role, usize)> =
        session.messages.iter().map(|message| (message.role, message.blocks.len())).collect();
    let expected =
        [(Role::User, 1), (Role::Assistant, 3), (Role::Tool, 2), (Role::Assistant, 2), (Role::User, 1)];
    assert_eq!(shape, expected);
    assert_eq!(session.messages[2].results().next().unwrap().name, "look");
    assert_eq!(session.messages[1].blocks[1].place.to_string(), "row 4 of agent_messages");
}

#[test]
fn each_of_two_texts_in_one_reply_is_sent_with_its_id() {
    let judgement = judged(&[user("hi"), said("msg_1", "a"), said("msg_2", "b"), user("more")]);
    assert_eq!(judgement.request()["input"][1], said("msg_1", "a"));
    assert_eq!(judgement.request()["input"][2], said("msg_2", "b"));
}

#[test]
fn a_call_without_a_result_is_dropped_with_its_reasoning() {
    let judgement = judged(&[user("hi"), thought("rs_1"), call("call_1"), user("more")]);
    assert_eq!(judgement.verdict, Verdict::Accepted);
    let words: Vec<_> = judgement.sent.mended.iter().map(|(words, n)| (*words, *n)).collect();
    let reasoning = "drops the reasoning before a call that it drops";
    assert_eq!(words, [("drops calls without a result", 1), (reasoning, 1)]);
    assert_eq!(judgement.request()["input"].as_array().unwrap().len(), 2);
}

#[test]
fn reasoning_before_a_call_that_stays_is_sent() {
    let items = [user("hi"), thought("rs_1"), call("call_1"), call("call_2"), output("call_1"), user("more")];
    let judgement = judged(&items);
    assert_eq!(judgement.sent.mended, [("drops calls without a result", 1)]);
    assert_eq!(judgement.request()["input"][1]["type"], "reasoning");
}

#[test]
fn a_trailing_call_is_an_open_tail() {
    assert_eq!(judged(&[user("hi"), call("call_1")]).verdict, Verdict::OpenTail);
}

#[test]
fn a_result_without_a_call_is_sent_and_refused() {
    let judgement = judged(&[user("hi"), output("call_1"), user("more")]);
    assert_eq!(judgement.verdict, Verdict::Refused);
    assert_eq!(rules(&judgement), ["openai-responses/tool-output-orphan"]);
    assert_eq!(judgement.refusals[0].place.as_ref().unwrap().to_string(), "row 3 of agent_messages");
}

#[test]
fn the_last_copy_of_a_duplicate_row_is_sent() {
    let mut items = batch();
    items.insert(5, output("call_1"));
    items.insert(3, call("call_1"));
    let judgement = judged(&items);
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    assert_eq!(judgement.sent.mended, [("sends the last of items with one id", 2)]);
}

#[test]
fn reasoning_without_its_item_is_rejected() {
    let mut items = batch();
    items.remove(7);
    let judgement = judged(&items);
    assert_eq!(rules(&judgement), ["openai-responses/reasoning-without-item"]);
}

#[test]
fn a_torn_row_is_a_trouble_and_is_not_sent() {
    let mut items = batch();
    items.push(json!("{\"role\": \"us"));
    items.push(json!("\0\0"));
    let session = session_a(&store(&items));
    let words: Vec<&str> = session.troubles.iter().map(|trouble| trouble.words.as_str()).collect();
    assert_eq!(words, ["a torn line: it ends before its JSON does", "2 NUL bytes"]);
    assert_eq!(judge(&session, None).verdict, Verdict::Accepted);
}

#[test]
fn encrypted_items_are_not_judged() {
    let envelope = json!({ "__enc__": 1, "v": 1, "kid": "k", "payload": "p" });
    assert_eq!(judged(&[envelope]).verdict, Verdict::Unreadable);
}

#[test]
fn items_of_another_api_are_judged_in_its_dialect() {
    let mut reply = said(FAKE_ID, "done");
    reply["id"] = json!(FAKE_ID);
    let session = session_a(&store(&[user("hi"), reply]));
    assert_eq!(session.dialect, Some(Dialect::OpenaiChat));
}

#[test]
fn rows_of_other_branches_are_not_sent() {
    let files = store(&[user("hi"), call("call_1"), output("call_1"), user("more")]);
    let database = Database::open(&files).unwrap();
    database
        .connection()
        .execute_batch(
            "CREATE TABLE message_structure (message_id INTEGER, branch_id TEXT, sequence_number INTEGER);
             INSERT INTO message_structure
             VALUES (2, 'main', 1), (3, 'other', 2), (4, 'other', 3), (5, 'main', 2);",
        )
        .unwrap();
    let files = Files::one("chat.db", database.into_bytes().unwrap());
    let session = session_a(&files);
    assert_eq!((session.messages.len(), session.off_branch.len()), (2, 2));
    assert_eq!(judge(&session, None).verdict, Verdict::Accepted);
    let edit = Edit::Drop { block: Place::in_row(TABLE, 2, "") };
    assert!(OpenaiAgents.write(&files, &session, &[edit]).unwrap_err().to_string().contains("branches"));
}

#[test]
fn a_synthesised_result_follows_the_message_of_its_call() {
    let files = store(&[user("hi"), call("call_1"), call("call_2"), output("call_2"), user("more")]);
    let edit = Edit::Synthesise { call: place(&files, call_of("call_1")), id: "call_1".to_owned() };
    let written = write(&files, edit.clone());
    let found = items(&written);
    let made = json!({ "type": "function_call_output", "call_id": "call_1", "output": NOT_RECORDED });
    assert_eq!(found[3], made);
    assert_eq!(found.len(), 6);
    let judgement = judge(&session_a(&written), None);
    assert_eq!((judgement.verdict, judgement.sent.mended.len()), (Verdict::Accepted, 0));
    // The rows before it keep their ids, and so do those of the other session.
    assert_eq!(rows(&written)[..4], rows(&files)[..4]);
    assert!(rows(&written).contains(&(7, "b".to_owned(), user("two").to_string())));
    assert_eq!(rows(&write(&files, edit)), rows(&written));
}

#[test]
fn a_result_moves_to_its_call_and_takes_no_new_id() {
    let files = store(&[user("hi"), call("call_1"), user("more"), output("call_1"), user("again")]);
    let edit = Edit::Move {
        result: place(&files, result_of("call_1")),
        call: place(&files, call_of("call_1")),
        id: "call_1".to_owned(),
    };
    let written = write(&files, edit);
    assert_eq!(items(&written), [user("hi"), call("call_1"), output("call_1"), user("more"), user("again")]);
    let ids = |files: &Files| rows(files).into_iter().map(|(id, ..)| id).collect::<Vec<_>>();
    assert_eq!(ids(&written), ids(&files));
}

#[test]
fn a_dropped_block_leaves_all_other_rows_unchanged() {
    let files = store(&[user("hi"), output("call_1"), user("more")]);
    let written = write(&files, Edit::Drop { block: place(&files, result_of("call_1")) });
    let mut expected = rows(&files);
    expected.retain(|(id, ..)| *id != 3);
    assert_eq!(rows(&written), expected);
    assert_eq!(judge(&session_a(&written), None).verdict, Verdict::Accepted);
}

#[test]
fn one_part_of_a_message_can_be_dropped() {
    let part = |text: &str| json!({ "type": "input_text", "text": text });
    let files = store(&[json!({ "role": "user", "content": [part("a"), part(" "), part("b")] })]);
    let written =
        write(&files, Edit::Drop { block: place(&files, |block| *block == Content::Text(" ".to_owned())) });
    assert_eq!(items(&written), [json!({ "role": "user", "content": [part("a"), part("b")] })]);
}

#[test]
fn a_torn_row_is_discarded_and_the_rest_truncated() {
    let files = store(&[user("hi"), json!("{"), user("more"), user("again")]);
    let torn = session_a(&files).troubles[0].place.clone();
    let last = place(&files, |block| *block == Content::Text("more".to_owned()));
    let session = session_a(&files);
    let edits = [Edit::Discard { place: torn }, Edit::Truncate { last }];
    let written = OpenaiAgents.write(&files, &session, &edits).unwrap();
    assert_eq!(items(&written), [user("hi"), user("more")]);
    assert_eq!(rows(&written).len(), 4);
}

#[test]
fn the_log_is_emptied_after_it_is_merged() {
    let mut files = store(&[user("hi"), output("call_1")]);
    files.files.push(crate::File { name: "chat.db-wal".to_owned(), bytes: vec![0; 40] });
    let written = write(&files, Edit::Drop { block: place(&files, result_of("call_1")) });
    assert_eq!((written.files[1].bytes.len(), items(&written)), (0, vec![user("hi")]));
}

#[test]
fn other_databases_are_not_recognised() {
    let mut connection = Connection::open_in_memory().unwrap();
    connection.execute_batch("CREATE TABLE agent_messages (id INTEGER, message_data TEXT);").unwrap();
    let bytes = connection.serialize(MAIN_DB).unwrap().to_vec();
    assert!(!OpenaiAgents.recognises(&Files::one("chat.db", bytes)));
    assert!(!OpenaiAgents.recognises(&Files::one("chat.db", b"SQLite format 3\0".to_vec())));
}

#[test]
fn items_with_wrong_types_are_read() {
    let hostile = [
        json!([]),
        json!(7),
        json!({}),
        json!({ "type": 3, "role": {}, "content": [[], 1, { "type": "input_text" }] }),
        json!({ "type": "function_call", "call_id": [], "arguments": 1 }),
        json!({ "type": "function_call_output", "call_id": null, "output": { "a": 1 } }),
        json!({ "type": "reasoning", "id": 1, "summary": "x" }),
        json!({ "type": "a secret\nword" }),
    ];
    let session = session_a(&store(&hostile));
    assert_eq!(session.n_records, 8);
    assert_eq!(session.troubles.len(), 2);
    assert_eq!(session.unknown, ["a type without a name"]);
    judge(&session, None);
}

#[test]
fn thirty_thousand_thoughts_are_handled_quickly() {
    let mut items: Vec<Value> = (0..30_000).map(|n| thought(&format!("rs_{n}"))).collect();
    items.push(call("call_1"));
    let session = session_a(&store(&items));
    assert_eq!(send::send(&session).mended[1].1, 30_000);
}

/// A JavaScript SDK list with a batch of two calls and `n_results` results.
fn list_of_javascript(n_results: usize) -> Files {
    let call = |id: &str| {
        json!({ "type": "function_call", "id": format!("fc_{id}"), "callId": id, "name": "look", "status": "completed",
            "arguments": "{}", "providerData": {} })
    };
    let result = |id: &str| {
        json!({ "type": "function_call_result", "name": "look", "callId": id, "status": "completed",
            "output": { "type": "text", "text": "found" } })
    };
    let said = json!([{ "type": "output_text", "text": "I look.", "providerData": { "annotations": [] } }]);
    let reply = json!({ "type": "message", "role": "assistant", "id": "msg_1", "status": "completed", "content": said });
    let mut items = vec![json!({ "role": "user", "content": "Look." }), reply, call("a"), call("b")];
    items.extend(["a", "b"].into_iter().take(n_results).map(result));
    items.push(json!({ "role": "user", "content": "Well?" }));
    Files::one("1.json", Value::Array(items).to_string())
}

#[test]
fn a_javascript_list_is_judged_and_repaired_in_its_own_form() {
    let whole = list_of_javascript(2);
    let sessions = read(&whole).unwrap();
    assert_eq!(
        (sessions[0].product, sessions[0].dialect),
        (Product::OpenaiAgents, Some(Dialect::OpenaiResponses))
    );
    let judgement = judge(&sessions[0], None);
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    for n_results in [0, 1] {
        let files = list_of_javascript(n_results);
        let Ok(crate::Repair::Mended(mended)) = crate::repair(&files, 0, &crate::RepairOptions::default())
        else {
            panic!("{n_results} results: not mended")
        };
        assert_eq!(mended.edits.len(), 2 - n_results);
        let written: Value = serde_json::from_slice(mended.files.main()).unwrap();
        assert_eq!(written[4]["type"], "function_call_result");
        assert_eq!(judge(&read(&mended.files).unwrap()[0], None).verdict, Verdict::Accepted);
    }
}

#[test]
fn the_javascript_sdk_sends_the_last_of_two_results() {
    let whole = list_of_javascript(2);
    let mut items: Vec<Value> = serde_json::from_slice(whole.main()).unwrap();
    // The ids that the SDK writes for an API other than Responses.
    for item in items.iter_mut().filter(|item| item["id"].is_string()) {
        item["id"] = json!("FAKE_ID");
    }
    let again = items[4].clone();
    items.insert(6, again);
    let files = Files::one("1.json", Value::Array(items.clone()).to_string());
    let session = read(&files).unwrap().remove(0);
    assert_eq!(session.dialect, Some(Dialect::OpenaiChat));
    let judgement = judge(&session, None);
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    assert_eq!(judgement.sent.mended, [("sends the last of items with one id", 1)]);
    // A call without a result is sent, too.
    items.retain(|item| item["callId"] != "b" || item["type"] == "function_call");
    let files = Files::one("1.json", Value::Array(items).to_string());
    assert_eq!(judge(&read(&files).unwrap()[0], None).verdict, Verdict::Refused);
}
