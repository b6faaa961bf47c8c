use brickbat_rules::Dialect;
use brickbat_rules::histories::{Block as Content, Role};
use rusqlite::{Connection, MAIN_DB};
use serde_json::{Value as Json, json};

use super::msgpack::{Value, encode};
use super::*;
use crate::stores::testing::{assert_accepted_as_stored, call_of, place, result_of, rules};
use crate::{Judgement, NOT_RECORDED, Verdict, judge};

const SCHEMA: &str = "
    CREATE TABLE checkpoints (
        thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
        parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB,
        PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)
    );
    CREATE TABLE writes (
        thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
        task_id TEXT NOT NULL, task_path TEXT NOT NULL DEFAULT '', idx INTEGER NOT NULL,
        channel TEXT NOT NULL, type TEXT, value BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
    );";

/// JSON as MessagePack. `{"$": [class, fields]}` is a Python object.
fn packed(value: &Json) -> Value {
    match value {
        Json::Null => Value::Nil,
        Json::Bool(is_true) => Value::Bool(*is_true),
        Json::Number(number) => Value::Whole(number.as_u64().unwrap()),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(packed).collect()),
        Json::Object(fields) => match fields.get("$").and_then(Json::as_array) {
            Some(parts) => {
                let parts =
                    [json!("langchain_core.messages"), parts[0].clone(), parts[1].clone(), json!("m")];
                Value::Object(5, Box::new(packed(&Json::Array(parts.to_vec()))))
            }
            None => {
                Value::Map(fields.iter().map(|(name, value)| (packed(&json!(name)), packed(value))).collect())
            }
        },
    }
}

/// A checkpoint of a graph with these nodes.
fn checkpoint(nodes: &[&str], messages: &[Json]) -> Vec<u8> {
    let seen: serde_json::Map<String, Json> =
        nodes.iter().map(|node| (node.to_string(), json!({}))).collect();
    let state = json!({
        "v": 4,
        "channel_values": { "messages": messages, "branch:to:agent": null },
        "channel_versions": { "messages": "2" },
        "versions_seen": seen,
    });
    encode(&packed(&state))
}

struct Fixture(Connection);

impl Fixture {
    fn new() -> Fixture {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(SCHEMA).unwrap();
        Fixture(connection)
    }

    fn step(self, id: &str, parent: Option<&str>, kind: &str, checkpoint: Vec<u8>) -> Fixture {
        let query = "INSERT INTO checkpoints VALUES ('t', '', ?1, ?2, ?3, ?4, '{}')";
        self.0.execute(query, rusqlite::params![id, parent, kind, checkpoint]).unwrap();
        self
    }

    fn wrote(self, id: &str, task: &str, channel: &str, value: &Json) -> Fixture {
        let query = "INSERT INTO writes VALUES ('t', '', ?1, ?2, '', 0, ?3, 'msgpack', ?4)";
        self.0.execute(query, rusqlite::params![id, task, channel, encode(&packed(value))]).unwrap();
        self
    }

    fn files(mut self) -> Files {
        Files::one("checkpoints.sqlite", self.0.serialize(MAIN_DB).unwrap().to_vec())
    }
}

/// A thread with an older checkpoint and a newest one with these messages.
fn graph_of(nodes: &[&str], messages: &[Json]) -> Fixture {
    Fixture::new().step("1", None, "msgpack", checkpoint(nodes, &[])).step(
        "2",
        Some("1"),
        "msgpack",
        checkpoint(nodes, messages),
    )
}

const REACT: [&str; 3] = ["__start__", "agent", "tools"];
const OWN: [&str; 3] = ["__start__", "model", "tools"];

fn human(text: &str) -> Json {
    json!({ "$": ["HumanMessage", { "content": text, "type": "human", "id": format!("h {text}") }] })
}

fn ai(content: Json, calls: &[&str]) -> Json {
    let call = |id: &&str| json!({ "name": "look", "args": { "x": 1 }, "id": id, "type": "tool_call" });
    let calls: Vec<Json> = calls.iter().map(call).collect();
    let metadata = json!({ "model_provider": "anthropic", "model_name": "claude-sonnet-4-5" });
    let id = format!("a {content}");
    json!({ "$": ["AIMessage", {
        "content": content, "response_metadata": metadata, "type": "ai", "id": id, "tool_calls": calls,
        "invalid_tool_calls": [],
    }] })
}

fn tool(call: &str) -> Json {
    json!({ "$": ["ToolMessage", {
        "content": format!("saw {call}"), "type": "tool", "id": format!("t {call}"), "tool_call_id": call,
        "status": "success",
    }] })
}

fn batch() -> Vec<Json> {
    let content = json!([
        { "type": "thinking", "thinking": "hm", "signature": "EqQBCgIYAg==" },
        { "type": "text", "text": "I look." },
        { "type": "tool_use", "id": "a", "name": "look", "input": {} },
    ]);
    vec![human("hi"), ai(content, &["a", "b"]), tool("a"), tool("b"), ai(json!("done"), &[]), human("more")]
}

fn session_of(files: &Files) -> Session {
    assert!(Langgraph.recognises(files));
    let mut sessions = crate::read(files).unwrap();
    assert_eq!(sessions.len(), 1);
    sessions.remove(0)
}

fn judged(nodes: &[&str], messages: &[Json]) -> Judgement {
    judge(&session_of(&graph_of(nodes, messages).files()), None)
}

/// The message ids in the newest checkpoint.
fn ids(files: &Files) -> Vec<String> {
    session_of(files).messages.into_iter().filter_map(|message| message.id).collect()
}

#[test]
fn a_parallel_batch_with_thinking_is_accepted() {
    let session = session_of(&graph_of(&OWN, &batch()).files());
    assert_eq!(session.model.as_deref(), Some("claude-sonnet-4-5"));
    assert_eq!((session.n_records, session.n_forks, session.generation), (2, 0, ANY_GRAPH));
    let judgement = judge(&session, None);
    assert_accepted_as_stored(&judgement);
}

#[test]
fn a_call_is_at_the_place_of_its_block_and_read_once() {
    let session = session_of(&graph_of(&OWN, &batch()).files());
    let pointers: Vec<&str> =
        session.messages[1].blocks.iter().map(|block| block.place.pointer.as_str()).collect();
    let at = |end: &str| format!("{MESSAGES}/1/{end}");
    assert_eq!(pointers, [at("content/0"), at("content/1"), at("tool_calls/0"), at("tool_calls/1")]);
    assert_eq!(session.messages[3].results().next().unwrap().name, "look");
    assert_eq!(session.messages[3].place.to_string(), "row 2 of checkpoints");
}

#[test]
fn two_blocks_of_one_call_are_one_call() {
    let block = json!({ "type": "tool_use", "id": "a", "name": "look", "input": {} });
    let session = session_of(&graph_of(&OWN, &[human("hi"), ai(json!([block, block]), &["a"])]).files());
    assert_eq!(session.messages[1].blocks.len(), 1);
}

#[test]
fn the_react_agent_gives_up_at_a_call_without_a_result() {
    let mut messages = batch();
    messages.remove(3);
    let judgement = judged(&REACT, &messages);
    assert_eq!(judgement.verdict, Verdict::Refused);
    assert!(judgement.refusals[0].message.contains("INVALID_CHAT_HISTORY"));
    assert_eq!(judgement.refusals[0].place.as_ref().unwrap().pointer, format!("{MESSAGES}/1/tool_calls/1"));
}

#[test]
fn other_graphs_leave_it_to_the_provider() {
    let mut messages = batch();
    messages.remove(3);
    let judgement = judged(&OWN, &messages);
    assert_eq!(judgement.refusals[0].rule.unwrap().id, "anthropic-messages/tool-result-missing");
}

#[test]
fn a_deep_agent_fills_calls_without_results() {
    let mut messages = batch();
    messages.remove(3);
    let judgement = judged(&["PatchToolCallsMiddleware.before_agent", "model", "tools"], &messages);
    assert_eq!(judgement.verdict, Verdict::Accepted);
    assert_eq!(judgement.sent.mended, [("fills calls without a result", 1)]);
}

#[test]
fn an_orphan_and_a_duplicate_result_are_rejected() {
    let mut messages = batch();
    messages.insert(2, tool("x"));
    assert!(!rules(&judged(&REACT, &messages)).is_empty());
    messages[2] = tool("a");
    assert!(!rules(&judged(&REACT, &messages)).is_empty());
}

#[test]
fn results_of_an_unfinished_step_are_off_the_branch() {
    let messages = [human("hi"), ai(json!(""), &["a", "b"])];
    let files = graph_of(&REACT, &messages).wrote("2", "k", "messages", &json!([tool("a")])).files();
    let session = session_of(&files);
    assert_eq!((session.messages.len(), session.off_branch.len()), (2, 1));
    assert_eq!(session.off_branch[0].place.to_string(), "row 1 of writes");
    // The next user message drops it.
    assert_eq!(judge(&session, None).verdict, Verdict::Refused);
}

#[test]
fn writes_in_the_checkpoint_are_not_off_the_branch() {
    let files = graph_of(&REACT, &batch()).wrote("1", "k", "messages", &json!([tool("a")])).files();
    assert_eq!(session_of(&files).off_branch, []);
}

#[test]
fn a_graph_that_waits_for_an_answer_is_an_open_tail() {
    let messages = [human("hi"), ai(json!(""), &["a"])];
    let files = graph_of(&OWN, &messages).wrote("2", "k", "__interrupt__", &json!([])).files();
    assert_eq!(judge(&session_of(&files), None).verdict, Verdict::OpenTail);
}

#[test]
fn blank_texts_and_empty_replies_are_not_sent_to_anthropic() {
    let messages = [human("hi"), ai(json!([{ "type": "text", "text": "\n" }]), &[]), human("more")];
    let judgement = judged(&OWN, &messages);
    assert_eq!(judgement.verdict, Verdict::Accepted);
    assert_eq!(judgement.sent.mended, [("drops blank texts", 1), ("drops replies without content", 1)]);
    let judgement = judged(&OWN, &[human("hi"), ai(json!("\n"), &[]), human("more")]);
    assert_eq!(rules(&judgement), ["anthropic-messages/text-blank"]);
}

#[test]
fn ids_of_other_providers_are_replaced_on_both_sides() {
    let judgement = judged(&OWN, &[human("hi"), ai(json!(""), &["f.look:0"]), tool("f.look:0")]);
    assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
    assert_eq!(judgement.sent.mended, [("replaces characters of ids", 2)]);
}

#[test]
fn unreadable_arguments_are_sent_as_an_empty_object() {
    let mut reply = ai(json!(""), &[]);
    let call = json!({ "name": "look", "args": "{\"x\": ", "id": "a", "type": "invalid_tool_call" });
    reply["$"][1]["invalid_tool_calls"] = json!([call]);
    let judgement = judged(&OWN, &[human("hi"), reply, tool("a")]);
    assert_eq!(judgement.sent.mended, [("sends empty arguments for those that cannot be read", 1)]);
    assert_eq!(judgement.verdict, Verdict::Accepted);
}

#[test]
fn providers_are_identified_by_the_fields_of_their_classes() {
    let provider = |metadata: Json| {
        let stored =
            Stored { class: "AIMessage".to_owned(), fields: json!({ "response_metadata": metadata }) };
        stored.provider().map(|(dialect, _)| dialect)
    };
    assert_eq!(provider(json!({ "model_provider": "openai" })), Some(Dialect::OpenaiChat));
    let responses = json!({ "model_provider": "openai", "id": "resp_1" });
    assert_eq!(provider(responses), Some(Dialect::OpenaiResponses));
    assert_eq!(provider(json!({ "model_name": "x" })), None);
}

#[test]
fn an_unreadable_checkpoint_is_not_judged() {
    let torn = |n: usize| {
        let mut bytes = checkpoint(&OWN, &batch());
        bytes.truncate(n);
        Fixture::new().step("1", None, "msgpack", bytes).files()
    };
    for n in [0, 1, 100] {
        assert_eq!(judge(&session_of(&torn(n)), None).verdict, Verdict::Unreadable, "{n} bytes");
    }
    let encrypted = Fixture::new().step("1", None, "msgpack+aes", vec![1]).files();
    let session = session_of(&encrypted);
    assert_eq!(session.troubles[0].words, "a checkpoint of type msgpack+aes, which Brickbat does not read");
    let unknown = judged(&OWN, &[human("hi"), json!({ "$": ["HologramMessage", {}] })]);
    assert_eq!(unknown.verdict, Verdict::Unreadable);
    assert_eq!(judged(&OWN, &[json!(["user", "hi"])]).verdict, Verdict::Unreadable);
}

#[test]
fn messages_stored_as_differences_are_not_read() {
    let state = json!({ "channel_values": {}, "channel_versions": { "messages": "2" }, "versions_seen": {} });
    let files = Fixture::new().step("1", None, "msgpack", encode(&packed(&state))).files();
    let session = session_of(&files);
    assert_eq!(
        session.troubles[0].words,
        "the messages are stored as differences, which Brickbat does not read"
    );
}

#[test]
fn graphs_without_messages_and_sub_agent_tasks_are_not_sessions() {
    let state =
        json!({ "channel_values": { "n": 1 }, "channel_versions": { "n": "1" }, "versions_seen": {} });
    let fixture = Fixture::new().step("1", None, "msgpack", encode(&packed(&state)));
    let query = "INSERT INTO checkpoints VALUES ('t', 'tools:1', '1', NULL, 'msgpack', ?1, '{}')";
    fixture.0.execute(query, [checkpoint(&OWN, &batch())]).unwrap();
    assert_eq!(crate::read(&fixture.files()).unwrap(), []);
}

#[test]
fn json_checkpoints_of_python_are_read_but_not_written() {
    fn message(class: &str, fields: Json) -> Json {
        let id = ["langchain", "schema", class];
        json!({ "lc": 1, "type": "constructor", "id": id, "kwargs": fields })
    }
    let calls = json!([{ "name": "look", "args": {}, "id": "a" }]);
    let messages = json!([
        message("HumanMessage", json!({ "content": "hi" })),
        message("AIMessage", json!({ "content": "", "tool_calls": calls })),
    ]);
    let state = json!({ "channel_values": { "messages": messages }, "versions_seen": {} });
    let files = Fixture::new().step("1", None, "json", state.to_string().into_bytes()).files();
    let session = session_of(&files);
    assert_eq!(judge(&session, None).verdict, Verdict::Refused);
    let edits = [Edit::Synthesise { call: place(&session, call_of("a")), id: "a".to_owned() }];
    let error = Langgraph.write(&files, &session, &edits).unwrap_err();
    assert_eq!(
        error.cause.to_string(),
        "only values of type msgpack, and JSON of LangGraph for JavaScript, are written"
    );
}

#[test]
fn forks_are_counted() {
    let files = graph_of(&OWN, &batch()).step("3", Some("1"), "msgpack", checkpoint(&OWN, &batch())).files();
    assert_eq!(session_of(&files).n_forks, 1);
}

#[test]
fn a_summary_of_the_middleware_counts_as_a_compaction() {
    let summary = json!({ "$": ["HumanMessage", {
        "content": "Here is a summary of the conversation to date:\n\nHi.", "type": "human", "id": "s",
        "additional_kwargs": { "lc_source": "summarization" },
    }] });
    let rest = [summary, ai(json!("done"), &[]), human("more")];
    let session = session_of(&graph_of(&OWN, &rest).files());
    assert_eq!((session.n_compactions, session.messages.len()), (1, 3));
    assert_eq!(session_of(&graph_of(&OWN, &batch()).files()).n_compactions, 0);
}

#[test]
fn a_recorded_result_is_moved_and_a_missing_one_synthesised() {
    let messages = [human("hi"), ai(json!(""), &["a", "b"]), human("next")];
    let files = graph_of(&REACT, &messages).wrote("1", "k", "messages", &json!([tool("a")])).files();
    let session = session_of(&files);
    let (a, b) = (place(&session, call_of("a")), place(&session, call_of("b")));
    let edits = [
        Edit::Move { result: place(&session, result_of("a")), call: a, id: "a".to_owned() },
        Edit::Synthesise { call: b, id: "b".to_owned() },
    ];
    let written = Langgraph.write(&files, &session, &edits).unwrap();
    let found = session_of(&written);
    let roles: Vec<Role> = found.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool, Role::Tool, Role::User]);
    let results: Vec<(String, bool)> = found
        .messages
        .iter()
        .flat_map(Message::results)
        .map(|result| (result.text(), result.is_error))
        .collect();
    assert_eq!(results, [("saw a".to_owned(), false), (NOT_RECORDED.to_owned(), true)]);
    assert_eq!((found.off_branch.len(), judge(&found, None).verdict), (0, Verdict::Accepted));
    assert_eq!(Langgraph.write(&files, &session, &edits).unwrap(), written);
}

#[test]
fn only_the_newest_checkpoint_is_changed() {
    let mut messages = batch();
    messages.insert(2, tool("x"));
    let files = graph_of(&OWN, &messages).wrote("1", "k", "messages", &json!([tool("y")])).files();
    let session = session_of(&files);
    let edits = [Edit::Drop { block: place(&session, result_of("x")) }];
    let written = Langgraph.write(&files, &session, &edits).unwrap();
    let rows = |files: &Files| {
        let database = Database::open(files).unwrap();
        let query =
            "SELECT checkpoint_id, checkpoint FROM checkpoints UNION ALL SELECT task_id, value FROM writes";
        let mut statement = database.connection().prepare(query).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.collect::<Result<Vec<(String, Vec<u8>)>, _>>().unwrap()
    };
    let mut expected = rows(&files);
    expected[1].1 = checkpoint(&OWN, &batch());
    assert_eq!(rows(&written), expected);
}

#[test]
fn blocks_are_dropped_and_the_rest_truncated() {
    let files = graph_of(&OWN, &batch()).files();
    let session = session_of(&files);
    let write = |edit: Edit| Langgraph.write(&files, &session, &[edit]).unwrap();
    let without = write(Edit::Drop { block: place(&session, call_of("a")) });
    // A field `type` with its value.
    const BLOCK: &[u8] = b"\xa4type\xa8tool_use";
    let has = |files: &Files, words: &[u8]| {
        let query = "SELECT checkpoint FROM checkpoints WHERE checkpoint_id = '2'";
        let database = Database::open(files).unwrap();
        let blob: Vec<u8> = database.connection().query_row(query, [], |row| row.get(0)).unwrap();
        blob.windows(words.len()).any(|window| window == words)
    };
    assert_eq!((has(&files, BLOCK), has(&without, BLOCK)), (true, false));
    let without = session_of(&without);
    let calls: Vec<&str> = without.messages[1].calls().map(|call| call.id.as_str()).collect();
    assert_eq!((calls, without.messages[1].blocks.len()), (vec!["b"], 3));
    let text = place(&session, |block| *block == Content::Text("I look.".to_owned()));
    assert_eq!(session_of(&write(Edit::Drop { block: text })).messages[1].blocks.len(), 3);
    let done = place(&session, |block| *block == Content::Text("done".to_owned()));
    let dropped = ids(&write(Edit::Drop { block: done.clone() }));
    assert_eq!(dropped.len(), 5, "the last block takes its message with it");
    assert_eq!(ids(&write(Edit::Truncate { last: done })), ids(&files)[..5]);
}

#[test]
fn a_late_result_moves_within_the_checkpoint() {
    let messages = [human("hi"), ai(json!(""), &["a"]), human("next"), tool("a")];
    let files = graph_of(&OWN, &messages).files();
    let session = session_of(&files);
    let (result, call) = (place(&session, result_of("a")), place(&session, call_of("a")));
    let edits = [Edit::Move { result, call, id: "a".to_owned() }];
    let written = Langgraph.write(&files, &session, &edits).unwrap();
    assert_eq!(ids(&written), ["h hi", "a \"\"", "t a", "h next"]);
    assert_eq!(judge(&session_of(&written), None).verdict, Verdict::Accepted);
}

#[test]
fn a_blob_in_a_different_encoding_is_not_written() {
    // The first text is in a longer form than it needs.
    let mut bytes = checkpoint(&OWN, &batch());
    bytes.splice(1..2, [0xd9, bytes[1] & 0x1f]);
    let files = Fixture::new().step("1", None, "msgpack", bytes).files();
    let session = session_of(&files);
    let edits = [Edit::Drop { block: place(&session, result_of("a")) }];
    let error = Langgraph.write(&files, &session, &edits).unwrap_err();
    assert_eq!(error.cause.to_string(), "a value in a form of MessagePack that the SDK does not write");
}

#[test]
fn fields_with_wrong_types_are_read() {
    let fields = json!({
        "content": [1, [], {}, { "type": 7 }, { "type": "text" }, { "type": "image_url", "image_url": [] }],
        "tool_calls": [1, {}, { "id": [], "args": "x" }], "invalid_tool_calls": {}, "id": 4,
        "response_metadata": 3,
    });
    let classes = ["HumanMessage", "AIMessage", "SystemMessage", "ToolMessage", "AIMessageChunk"];
    let messages: Vec<Json> = classes.iter().map(|class| json!({ "$": [class, fields] })).collect();
    let session = session_of(&graph_of(&REACT, &messages).files());
    assert_eq!((session.messages.len(), session.messages[1].blocks.len()), (5, 3));
    judge(&session, None);
}

#[test]
fn other_databases_are_not_recognised() {
    let mut connection = Connection::open_in_memory().unwrap();
    connection
        .execute_batch("CREATE TABLE checkpoints (thread_id, checkpoint); CREATE TABLE writes (a);")
        .unwrap();
    let bytes = connection.serialize(MAIN_DB).unwrap().to_vec();
    assert!(!Langgraph.recognises(&Files::one("c.db", bytes)));
}
