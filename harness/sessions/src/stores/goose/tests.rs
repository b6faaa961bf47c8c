use rusqlite::{Connection, MAIN_DB};
use serde_json::json;

use super::*;
use crate::stores::testing::{call_of, result_of, rules};
use crate::{Judgement, NOT_RECORDED, Verdict, judge};
use brickbat_rules::histories::Block as Content;

const SCHEMA: &str = "
    CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP);
    INSERT INTO schema_version (version) VALUES (17);
    CREATE TABLE sessions (id TEXT PRIMARY KEY, working_dir TEXT, provider_name TEXT, model_config_json TEXT);
    INSERT INTO sessions VALUES
        ('a', '/w', 'anthropic', '{\"model_name\":\"claude-sonnet-4-5\"}'), ('b', '/w', NULL, NULL);
    CREATE TABLE messages (
        id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT,
        session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL, content_json TEXT NOT NULL,
        created_timestamp INTEGER NOT NULL, timestamp TIMESTAMP, tokens INTEGER, metadata_json TEXT
    );";

/// A message of a fixture: its role, its content, and its time in seconds.
type Told = (&'static str, Value, i64);

fn database(messages: &[Told]) -> Files {
    let mut connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    for (n, (role, content, at)) in messages.iter().enumerate() {
        let content = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
        let query = "INSERT INTO messages
            (message_id, session_id, role, content_json, created_timestamp, metadata_json)
            VALUES (?1, 'a', ?2, ?3, ?4, ?5)";
        let metadata = "{\"userVisible\":true,\"agentVisible\":true}";
        connection.execute(query, (format!("msg_{n}"), role, content, at, metadata)).unwrap();
    }
    let query = "INSERT INTO messages (session_id, role, content_json, created_timestamp)
        VALUES ('b', 'user', '[]', 1)";
    connection.execute(query, []).unwrap();
    Files::one("sessions.db", connection.serialize(MAIN_DB).unwrap().to_vec())
}

fn object((role, content, at): &Told) -> Value {
    let metadata = json!({ "userVisible": true, "agentVisible": true });
    json!({ "id": "msg_1", "role": role, "created": at, "content": content, "metadata": metadata })
}

fn export(messages: &[Told]) -> Files {
    let list: Vec<Value> = messages.iter().map(object).collect();
    let session = json!({
        "id": "a", "working_dir": "/w", "provider_name": "anthropic", "conversation": list,
        "message_count": 1,
    });
    Files::one("session.json", serde_json::to_vec_pretty(&session).unwrap())
}

fn lines(messages: &[Told]) -> Files {
    let mut text = json!({ "working_dir": "/w", "description": "d", "message_count": 3 }).to_string();
    for (role, content, at) in messages {
        text.push('\n');
        match content.as_str() {
            Some(torn) => text.push_str(torn),
            None => {
                text.push_str(&json!({ "role": role, "created": at, "content": content }).to_string());
            }
        }
    }
    Files::one("20250601_1.jsonl", text + "\n")
}

fn user(text: &str) -> Told {
    ("user", json!([{ "type": "text", "text": text }]), 1)
}

fn said(text: &str) -> Told {
    ("assistant", json!([{ "type": "text", "text": text }]), 1)
}

fn request(id: &str) -> Value {
    let value = json!({ "name": "developer__shell", "arguments": { "command": "ls" } });
    json!({ "type": "toolRequest", "id": id, "toolCall": { "status": "success", "value": value } })
}

fn response(id: &str) -> Value {
    let value = json!({ "content": [{ "type": "text", "text": format!("saw {id}") }], "isError": false });
    json!({ "type": "toolResponse", "id": id, "toolResult": { "status": "success", "value": value } })
}

fn batch() -> Vec<Told> {
    let thinking = json!({ "type": "thinking", "thinking": "hm", "signature": "EqQBCgIYAg==" });
    let text = json!({ "type": "text", "text": "I look." });
    vec![
        user("hi"),
        ("assistant", json!([thinking, text, request("a"), request("b")]), 1),
        ("user", json!([response("a"), response("b")]), 1),
        said("done"),
        user("more"),
    ]
}

fn session_a(files: &Files) -> Session {
    assert!(Goose.recognises(files));
    let sessions = crate::read(files).unwrap();
    sessions.into_iter().find(|session| session.id.as_deref() != Some("b")).unwrap()
}

fn judged(messages: &[Told]) -> Judgement {
    judge(&session_a(&database(messages)), None)
}

fn rows(files: &Files) -> Vec<(i64, String, String, i64)> {
    let database = Database::open(files).unwrap();
    let query =
        "SELECT id, role, content_json, created_timestamp FROM messages ORDER BY created_timestamp, id";
    let mut statement = database.connection().prepare(query).unwrap();
    let rows =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

fn place(files: &Files, is_meant: impl Fn(&Content) -> bool) -> Place {
    let session = session_a(files);
    let blocks = session.messages.iter().chain(&session.off_branch).flat_map(|message| &message.blocks);
    blocks.filter(|block| is_meant(&block.content)).map(|block| block.place.clone()).next().unwrap()
}

fn shape(session: &Session) -> Vec<(Role, usize)> {
    session.messages.iter().map(|message| (message.role, message.blocks.len())).collect()
}

#[test]
fn a_parallel_batch_with_thinking_is_accepted_in_all_three_forms() {
    for files in [database(&batch()), export(&batch()), lines(&batch())] {
        let session = session_a(&files);
        let expected =
            [(Role::User, 1), (Role::Assistant, 4), (Role::Tool, 2), (Role::Assistant, 1), (Role::User, 1)];
        assert_eq!(shape(&session), expected, "{}", session.generation);
        let judgement = judge(&session, None);
        assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
        assert!(judgement.sent.mended.is_empty());
        assert_eq!(judgement.is_assumed, session.generation == LINES);
    }
}

#[test]
fn places_in_a_file_match_the_blocks() {
    for files in [export(&batch()), lines(&batch())] {
        let place = place(&files, result_of("b"));
        let bytes = &files.main()[place.start as usize..place.end as usize];
        assert_eq!(serde_json::from_slice::<Value>(bytes).unwrap(), response("b"));
    }
    assert_eq!(place(&lines(&batch()), result_of("b")).to_string(), "line 4");
    assert_eq!(place(&export(&batch()), result_of("b")).to_string(), "/conversation/2/content/1");
    assert_eq!(place(&database(&batch()), result_of("b")).to_string(), "row 3 of messages");
}

#[test]
fn rows_are_sent_in_the_order_of_their_times() {
    let mut messages = batch();
    messages.swap(3, 4);
    messages[3].2 = 9;
    messages[4].2 = 2;
    assert_eq!(session_a(&database(&messages)).messages[3].role, Role::Assistant);
}

#[test]
fn the_provider_determines_the_dialect() {
    let session = session_a(&database(&batch()));
    assert_eq!(session.dialect, Some(Dialect::AnthropicMessages));
    assert_eq!(session.model.as_deref(), Some("claude-sonnet-4-5"));
    assert_eq!(dialect_of("openai", "gpt-5-codex"), None);
    assert_eq!(dialect_of("custom_moonshot", "kimi-k2.5"), Some(Dialect::OpenaiChat));
    assert_eq!(dialect_of("custom_gateway", "claude-sonnet-4-5"), None);
}

#[test]
fn calls_without_results_and_results_without_calls_are_dropped() {
    let mut messages = batch();
    messages[2].1 = json!([response("a"), response("x")]);
    let judgement = judged(&messages);
    assert_eq!(judgement.verdict, Verdict::Accepted);
    let expected =
        [("drops results without a call before them", 1), ("drops calls without a result after them", 1)];
    assert_eq!(judgement.sent.mended, expected);
}

#[test]
fn a_late_result_is_kept_and_rejected() {
    let messages = [
        user("hi"),
        ("assistant", json!([request("a")]), 1),
        user("stop"),
        ("user", json!([response("a")]), 1),
    ];
    let judgement = judged(&messages);
    // The user text and the result are two messages here, and one at the provider, with the result first.
    assert_eq!(judgement.verdict, Verdict::Accepted);
    let messages = [
        user("hi"),
        ("assistant", json!([request("a")]), 1),
        user("stop"),
        said("stopped"),
        ("user", json!([response("a")]), 1),
    ];
    let judgement = judged(&messages);
    assert_eq!(judgement.verdict, Verdict::Refused);
    assert!(rules(&judgement).contains(&"anthropic-messages/tool-result-missing"), "{:?}", rules(&judgement));
}

#[test]
fn an_open_call_drops_both_calls_with_its_id() {
    let again = ("assistant", json!([{ "type": "text", "text": "again" }, request("a")]), 1);
    let messages = [
        user("hi"),
        ("assistant", json!([request("a")]), 1),
        ("user", json!([response("a")]), 1),
        again,
        user("more"),
    ];
    let judgement = judged(&messages);
    assert_eq!(
        judgement.sent.mended,
        [("drops calls without a result after them", 2), ("drops empty messages", 1)]
    );
    assert_eq!(judgement.verdict, Verdict::Refused, "the result stays without its call");
}

#[test]
fn a_duplicate_row_is_repaired() {
    let mut messages = batch();
    messages.insert(3, messages[2].clone());
    let judgement = judged(&messages);
    assert_eq!(judgement.verdict, Verdict::Accepted);
    assert_eq!(
        judgement.sent.mended,
        [("drops results without a call before them", 2), ("drops empty messages", 1)]
    );
}

#[test]
fn blank_texts_and_empty_results_are_repaired() {
    let empty =
        json!({ "type": "toolResponse", "id": "a", "toolResult": { "status": "success", "value": [] } });
    let messages = [
        user("hi"),
        ("assistant", json!([{ "type": "text", "text": "\n\n" }, request("a")]), 1),
        ("user", json!([empty]), 1),
        ("assistant", json!([{ "type": "text", "text": "a" }, { "type": "text", "text": "b \n" }]), 1),
        user("  "),
    ];
    let judgement = judged(&messages);
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    assert_eq!(judgement.sent.mended, [("fills results without content", 1), ("drops blank texts", 2)]);
    assert_eq!(judgement.request()["messages"][3]["content"][0]["text"], "ab");
}

#[test]
fn neighbours_of_one_role_merge_but_results_and_texts_stay_apart() {
    let messages = [
        user("hi"),
        user("there"),
        ("assistant", json!([request("a")]), 1),
        ("assistant", json!([request("b")]), 1),
        ("user", json!([response("a")]), 1),
        ("user", json!([response("b")]), 1),
        user("more"),
    ];
    let judgement = judged(&messages);
    let blocks: Vec<usize> = judgement.sent.messages.iter().map(|message| message.blocks.len()).collect();
    assert_eq!((judgement.verdict, blocks), (Verdict::Accepted, vec![2, 2, 2, 1]));
}

#[test]
fn a_leading_model_message_is_dropped() {
    let judgement = judged(&[said("welcome"), user("hi")]);
    assert_eq!(judgement.sent.mended, [("drops a message of the model at the beginning", 1)]);
    assert_eq!(judgement.sent.messages.len(), 1);
}

#[test]
fn a_call_that_could_not_be_parsed_is_sent_under_another_name() {
    let broken =
        json!({ "type": "toolRequest", "id": "a", "toolCall": { "status": "error", "error": "bad" } });
    let failed =
        json!({ "type": "toolResponse", "id": "a", "toolResult": { "status": "error", "error": "bad" } });
    let messages = [user("hi"), ("assistant", json!([broken]), 1), ("user", json!([failed]), 1)];
    let judgement = judged(&messages);
    assert_eq!(judgement.verdict, Verdict::Accepted);
    assert_eq!(judgement.request()["messages"][1]["content"][0]["name"], "unparseable_tool_call");
    assert_eq!(judgement.request()["messages"][2]["content"][0]["is_error"], true);
}

#[test]
fn messages_hidden_from_the_agent_are_off_the_branch() {
    let database = Database::open(&database(&batch())).unwrap();
    let hide = "UPDATE messages SET metadata_json = '{\"agentVisible\":false}' WHERE id < 4";
    database.connection().execute(hide, []).unwrap();
    let session = session_a(&Files::one("sessions.db", database.into_bytes().unwrap()));
    assert_eq!((session.messages.len(), session.off_branch.len(), session.n_compactions), (2, 3, 1));
}

#[test]
fn notes_and_user_only_content_are_not_read() {
    let note = json!({ "type": "systemNotification", "notificationType": "inlineMessage", "msg": "m" });
    let mine = json!({ "type": "text", "text": "t", "annotations": { "audience": ["user"] } });
    let session = session_a(&database(&[user("hi"), ("assistant", json!([note, mine]), 1)]));
    assert_eq!((session.messages.len(), session.unknown.len()), (1, 0));
}

#[test]
fn a_trailing_call_is_an_open_tail() {
    assert_eq!(judged(&batch()[..2]).verdict, Verdict::OpenTail);
}

#[test]
fn goose_gives_up_at_an_unreadable_row() {
    let mut messages = batch();
    messages[3].1 = json!("[{\"type\": \"text\"");
    let files = database(&messages);
    let judgement = judge(&session_a(&files), None);
    assert_eq!(judgement.verdict, Verdict::Refused);
    assert!(judgement.refusals[0].message.contains("cannot load the session: a torn line"));
    let discard = Edit::Discard { place: judgement.refusals[0].place.clone().unwrap() };
    let written = Goose.write(&files, &session_a(&files), &[discard]).unwrap();
    assert_eq!(judge(&session_a(&written), None).verdict, Verdict::Accepted);
}

#[test]
fn a_torn_line_is_skipped_and_can_be_discarded() {
    let mut messages = batch();
    messages.push(("user", json!("{\"role\": \"us"), 1));
    messages.push(("user", json!("\0\0\0"), 1));
    let files = lines(&messages);
    let session = session_a(&files);
    let words: Vec<&str> = session.troubles.iter().map(|trouble| trouble.words.as_str()).collect();
    assert_eq!(words, ["a torn line: it ends before its JSON does", "3 NUL bytes"]);
    assert_eq!(judge(&session, None).verdict, Verdict::Accepted);
    let discard = |n: usize| Edit::Discard { place: session.troubles[n].place.clone() };
    let written = Goose.write(&files, &session, &[discard(0), discard(1)]).unwrap();
    assert_eq!(written, lines(&batch()));
}

#[test]
fn content_in_an_unknown_form_is_not_judged() {
    let judgement = judged(&[user("hi"), ("assistant", json!([{ "type": "hologram" }]), 1)]);
    assert_eq!(judgement.verdict, Verdict::Unreadable);
}

#[test]
fn a_newer_schema_is_not_read() {
    let database = Database::open(&database(&batch())).unwrap();
    database.connection().execute("INSERT INTO schema_version (version) VALUES (18)", []).unwrap();
    let files = Files::one("sessions.db", database.into_bytes().unwrap());
    let words = "goose: schema 18 is newer than 17, the newest that is known";
    assert_eq!(Goose.read(&files).unwrap_err().to_string(), words);
}

#[test]
fn a_synthesised_result_is_an_error_directly_after_its_call() {
    let mut messages = batch();
    messages[2].1 = json!([response("b")]);
    for files in [database(&messages), export(&messages), lines(&messages)] {
        let session = session_a(&files);
        let edits = [Edit::Synthesise { call: place(&files, call_of("a")), id: "a".to_owned() }];
        let written = Goose.write(&files, &session, &edits).unwrap();
        let found = session_a(&written);
        assert_eq!(found.messages.len(), 6, "{}", session.generation);
        let result = found.messages[2].results().next().unwrap();
        assert_eq!(
            (result.call.as_str(), result.is_error, result.text().as_str()),
            ("a", true, NOT_RECORDED)
        );
        let judgement = judge(&found, None);
        assert_eq!((judgement.verdict, judgement.sent.mended.len()), (Verdict::Accepted, 0));
        assert_eq!(Goose.write(&files, &session, &edits).unwrap(), written);
    }
}

#[test]
fn a_result_moves_to_its_call_and_nothing_else_changes() {
    let messages = [
        user("hi"),
        ("assistant", json!([request("a"), request("b")]), 1),
        ("user", json!([response("b")]), 1),
        said("done"),
        ("user", json!([response("a"), { "type": "text", "text": "more" }]), 3),
    ];
    for files in [database(&messages), export(&messages), lines(&messages)] {
        let (result, call) = (place(&files, result_of("a")), place(&files, call_of("a")));
        let edits = [Edit::Move { result, call, id: "a".to_owned() }];
        let written = Goose.write(&files, &session_a(&files), &edits).unwrap();
        let expected = [
            (Role::User, 1),
            (Role::Assistant, 2),
            (Role::Tool, 1),
            (Role::Tool, 1),
            (Role::Assistant, 1),
            (Role::User, 1),
        ];
        let session = session_a(&written);
        assert_eq!(shape(&session), expected);
        assert_eq!(session.messages[2].results().next().unwrap().call, "a");
        assert_eq!(judge(&session, None).verdict, Verdict::Accepted);
    }
    let before = rows(&database(&messages));
    let files = database(&messages);
    let (result, call) = (place(&files, result_of("a")), place(&files, call_of("a")));
    let edits = [Edit::Move { result, call, id: "a".to_owned() }];
    let after = rows(&Goose.write(&files, &session_a(&files), &edits).unwrap());
    // The row of session `b` and the rows before the edit are unchanged. The new row has the time of its
    // call.
    assert_eq!(after[..2], before[..2]);
    assert_eq!((after[2].2.as_str(), after[2].3), (json!([response("a")]).to_string().as_str(), 1));
    assert!(after.contains(&(6, "user".to_owned(), "[]".to_owned(), 1)));
}

#[test]
fn drops_and_truncation_leave_other_messages_byte_for_byte() {
    let mut messages = batch();
    messages.push(("user", json!([response("x"), response("y")]), 1));
    for files in [export(&messages), lines(&messages)] {
        let session = session_a(&files);
        let drop = |id: &str| Edit::Drop { block: place(&files, result_of(id)) };
        let written = Goose.write(&files, &session, &[drop("x"), drop("y")]).unwrap();
        let expected = match session.generation {
            EXPORT => export(&batch()),
            _ => lines(&batch()),
        };
        assert_eq!(String::from_utf8_lossy(written.main()), String::from_utf8_lossy(expected.main()));
        let last = session.messages[4].blocks[0].place.clone();
        assert_eq!(Goose.write(&files, &session, &[Edit::Truncate { last }]).unwrap(), expected);
        let one = Goose.write(&files, &session, &[drop("x")]).unwrap();
        assert_eq!(session_a(&one).messages[5].blocks.len(), 1);
    }
    let files = database(&messages);
    let session = session_a(&files);
    let last = session.messages[4].blocks[0].place.clone();
    let written = Goose.write(&files, &session, &[Edit::Truncate { last }]).unwrap();
    let mut expected = rows(&files);
    expected.retain(|(id, ..)| *id != 6);
    assert_eq!(rows(&written), expected);
}

#[test]
fn lists_of_other_products_are_not_recognised() {
    for text in [
        "",
        "{}",
        "{\"conversation\": []}",
        "{\"working_dir\": \"/w\", \"conversation\": [{\"role\": \"user\", \"content\": \"hi\"}]}",
        "[{\"role\": \"user\", \"created\": 1, \"content\": []}]",
        "{\"type\": \"user\"}\n{\"role\": \"user\", \"created\": 1, \"content\": []}",
    ] {
        assert!(!Goose.recognises(&Files::one("session.jsonl", text)), "{text}");
    }
}

#[test]
fn hostile_lines_are_read_without_a_panic() {
    let mut text = lines(&[user("hi")]).main().to_vec();
    for line in ["[", "7", "{\"role\": 1, \"created\": {}, \"content\": [[1]]}", "\u{feff}{}"] {
        text.extend_from_slice(line.as_bytes());
        text.push(b'\n');
    }
    text.extend(std::iter::repeat_n(b'[', 200_000));
    let session = session_a(&Files::one("x.jsonl", text));
    assert_eq!((session.messages.len(), session.troubles.len()), (1, 5));
}
