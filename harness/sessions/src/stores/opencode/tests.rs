//! Tests with small invented sessions, each written in every form.

mod edits;
mod events;
mod faults;
mod sending;

use brickbat_rules::Dialect;
use brickbat_rules::histories::{self, Role};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::{Edit, File, Files, Judgement, Place, Product, Session, Verdict, judge, store_of};

/// A session that can be written in any form.
#[derive(Debug, Clone)]
struct Fixture {
    info: Value,
    messages: Vec<(Value, Vec<Value>)>,
}

impl Fixture {
    fn new(provider: &str, model: &str) -> Fixture {
        let info = json!({
            "id": "ses_1", "version": "1.18.33", "projectID": "p", "directory": "/w", "title": "t",
            "time": { "created": 1, "updated": 2 },
        });
        let mut fixture = Fixture { info, messages: Vec::new() };
        fixture.user(provider, model, vec![words("List both.")]);
        fixture
    }

    fn user(&mut self, provider: &str, model: &str, parts: Vec<Value>) {
        let model = json!({ "providerID": provider, "modelID": model });
        self.push(json!({ "role": "user", "agent": "build", "model": model }), parts);
    }

    fn reply(&mut self, parts: Vec<Value>) -> &mut Value {
        let asked = self.messages[0].0["model"].clone();
        let parent = self
            .messages
            .iter()
            .rfind(|(info, _)| info["role"] == "user")
            .map(|(info, _)| info["id"].clone());
        let info = json!({
            "role": "assistant", "parentID": parent, "providerID": asked["providerID"], "modelID": asked["modelID"],
            "finish": "stop",
        });
        self.push(info, parts);
        let last = self.messages.len() - 1;
        &mut self.messages[last].0
    }

    /// Adds a message. Ids and times increase with each message and part.
    fn push(&mut self, mut info: Value, mut parts: Vec<Value>) {
        let n = self.messages.len() + 1;
        let session = self.info["id"].clone();
        info["id"] = json!(format!("msg_{n:03}"));
        info["sessionID"] = session.clone();
        info["time"] = json!({ "created": 1000 + n });
        for (m, part) in parts.iter_mut().enumerate() {
            part["id"] = json!(format!("prt_{n:03}{m:03}"));
            part["messageID"] = info["id"].clone();
            part["sessionID"] = session.clone();
        }
        self.messages.push((info, parts));
    }

    fn export(&self) -> Files {
        let messages: Vec<Value> =
            self.messages.iter().map(|(info, parts)| json!({ "info": info, "parts": parts })).collect();
        let export = json!({ "info": self.info, "messages": messages });
        Files::one("session.json", serde_json::to_vec_pretty(&export).unwrap())
    }

    fn folder(&self) -> Files {
        let bytes = |value: &Value| serde_json::to_vec_pretty(value).unwrap();
        let mut files = Files::one("ses_1.json", bytes(&self.info));
        for (info, parts) in &self.messages {
            let id = info["id"].as_str().unwrap();
            let name = format!("../../message/ses_1/{id}.json");
            files.files.push(File { name, bytes: bytes(info) });
            for part in parts {
                let name = format!("../../part/{id}/{}.json", part["id"].as_str().unwrap());
                files.files.push(File { name, bytes: bytes(part) });
            }
        }
        files
    }

    fn rows(&self) -> Files {
        let mut message = Vec::new();
        let mut part = Vec::new();
        for (info, parts) in &self.messages {
            message.push(json!({
                "id": info["id"], "session_id": info["sessionID"], "time_created": info["time"]["created"],
                "data": without_ids(info).to_string(),
            }));
            part.extend(parts.iter().map(|own| {
                json!({
                    "id": own["id"], "message_id": info["id"], "session_id": info["sessionID"],
                    "data": without_ids(own).to_string(),
                })
            }));
        }
        let revert = self.info.get("revert").map(Value::to_string);
        let session = json!([{ "id": self.info["id"], "version": self.info["version"], "revert": revert }]);
        let rows = json!({ "session": session, "message": message, "part": part });
        Files::one("rows.json", serde_json::to_vec_pretty(&rows).unwrap())
    }

    fn database(&self) -> Files {
        let connection = database();
        self.insert_into(&connection);
        bytes_of(connection)
    }

    fn insert_into(&self, connection: &Connection) {
        let info = &self.info;
        let revert = info.get("revert").map(Value::to_string);
        connection
            .execute(
                "INSERT INTO session VALUES (?1, ?2, ?3, ?4)",
                (info["id"].as_str(), info["parentID"].as_str(), info["version"].as_str(), revert),
            )
            .unwrap();
        for (info, parts) in &self.messages {
            let (id, session) = (info["id"].as_str(), info["sessionID"].as_str());
            let created = info["time"]["created"].as_i64();
            let data = without_ids(info).to_string();
            connection
                .execute("INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)", (id, session, created, data))
                .unwrap();
            for part in parts {
                let values = (part["id"].as_str(), id, session, without_ids(part).to_string());
                connection.execute("INSERT INTO part VALUES (?1, ?2, ?3, ?4)", values).unwrap();
            }
        }
    }

    /// The session in each form, with the form's name.
    fn forms(&self) -> [(&'static str, Files); 4] {
        [
            ("export", self.export()),
            ("SQLite rows as JSON", self.rows()),
            ("JSON files", self.folder()),
            ("SQLite rows", self.database()),
        ]
    }
}

/// The tables of opencode, as far as they are read.
fn database() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    let tables = "CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, version TEXT, revert TEXT);
        CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT REFERENCES session(id) ON DELETE CASCADE,
            time_created INTEGER, time_updated INTEGER, data TEXT);
        CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT REFERENCES message(id) ON DELETE CASCADE,
            session_id TEXT, data TEXT);";
    connection.execute_batch(tables).unwrap();
    connection
}

fn bytes_of(mut connection: Connection) -> Files {
    Files::one("opencode.db", connection.serialize("main").unwrap().to_vec())
}

/// The database stores the ids in separate columns.
fn without_ids(value: &Value) -> Value {
    let mut value = value.clone();
    for key in ["id", "sessionID", "messageID"] {
        value.as_object_mut().unwrap().shift_remove(key);
    }
    value
}

fn words(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn step() -> Value {
    json!({ "type": "step-start" })
}

fn end() -> Value {
    json!({ "type": "step-finish", "reason": "tool-calls", "cost": 0 })
}

fn thought(signature: &str) -> Value {
    json!({ "type": "reasoning", "text": "hm", "metadata": { "anthropic": { "signature": signature } } })
}

fn call(id: &str, state: Value) -> Value {
    json!({ "type": "tool", "callID": id, "tool": "list", "state": state })
}

fn done(id: &str, output: &str) -> Value {
    let state = json!({
        "status": "completed", "input": { "path": "a" }, "output": output, "title": "t", "metadata": {},
        "time": { "start": 5, "end": 6 },
    });
    call(id, state)
}

fn running(id: &str) -> Value {
    call(id, json!({ "status": "running", "input": { "path": "a" }, "time": { "start": 5 } }))
}

/// A signed thought, two parallel calls, and a second step.
fn healthy() -> Fixture {
    let mut fixture = Fixture::new("anthropic", "claude-sonnet-4-5");
    let first = [step(), thought("EqQB"), words("Both."), done("toolu_1", "x"), done("toolu_2", ""), end()];
    fixture.reply(first.into_iter().chain([step(), words("Done."), end()]).collect());
    fixture.user("anthropic", "claude-sonnet-4-5", vec![words("Thanks.")]);
    fixture
}

/// The same with one call without a result, in the middle or at the end.
fn open(provider: &str, model: &str, is_at_end: bool) -> Fixture {
    let mut fixture = Fixture::new(provider, model);
    fixture.reply(vec![step(), words("One."), done("toolu_1", "x"), running("toolu_2")]);
    if !is_at_end {
        fixture.user(provider, model, vec![words("Go on, please.")]);
    }
    fixture
}

fn one(files: &Files) -> Session {
    let mut sessions = crate::read(files).unwrap();
    assert_eq!(sessions.len(), 1);
    sessions.remove(0)
}

fn judged(files: &Files) -> Judgement {
    judge(&one(files), None)
}

/// The ids of the broken rules.
fn rules(judgement: &Judgement) -> Vec<&'static str> {
    judgement.refusals.iter().filter_map(|refusal| Some(refusal.rule?.id)).collect()
}

/// The roles and blocks of the sent messages, one letter each.
fn shape(judgement: &Judgement) -> String {
    shape_of(&judgement.sent.messages)
}

fn shape_of(messages: &[crate::Message]) -> String {
    let letter = |block: &crate::Block| match &block.content {
        histories::Block::Text(_) => 't',
        histories::Block::Thinking(_) => 'h',
        histories::Block::Call(_) => 'c',
        histories::Block::Result(result) if result.is_error => 'e',
        histories::Block::Result(_) => 'r',
        histories::Block::Image(_) => 'i',
        histories::Block::Native { .. } => 'n',
    };
    let message = |message: &crate::Message| {
        let role = match message.role {
            Role::System => 'S',
            Role::User => 'U',
            Role::Assistant => 'A',
            Role::Tool => 'T',
        };
        std::iter::once(role).chain(message.blocks.iter().map(letter)).collect::<String>()
    };
    messages.iter().map(message).collect::<Vec<_>>().join(" ")
}

fn place_of_call(session: &Session, id: &str) -> Place {
    let mut blocks = session.messages.iter().chain(&session.off_branch).flat_map(|message| &message.blocks);
    let is_it =
        |block: &&crate::Block| matches!(&block.content, histories::Block::Call(call) if call.id == id);
    blocks.find(is_it).unwrap().place.clone()
}

fn write(files: &Files, edits: &[Edit]) -> Files {
    let session = crate::read(files).unwrap().remove(0);
    store_of(Product::Opencode).unwrap().write(files, &session, edits).unwrap()
}

#[test]
fn a_healthy_session_is_accepted_in_every_form() {
    for (generation, files) in healthy().forms() {
        let session = one(&files);
        assert_eq!(session.generation, generation);
        assert_eq!(session.id.as_deref(), Some("ses_1"));
        assert_eq!(session.version.as_deref(), Some("1.18.33"));
        assert_eq!(session.dialect, Some(Dialect::AnthropicMessages));
        assert_eq!(session.model.as_deref(), Some("claude-sonnet-4-5"));
        assert_eq!(session.n_records, 14);
        assert!(session.troubles.is_empty() && session.unknown.is_empty());
        let judgement = judge(&session, None);
        assert_eq!(shape(&judgement), "Ut Ahtcc Trr At Ut", "{generation}");
        assert_eq!(judgement.verdict, Verdict::Accepted, "{:?}", judgement.refusals);
        assert_eq!(judgement.sent.mended, []);
    }
}

#[test]
fn places_are_unique_except_for_a_call_and_its_result() {
    for (form, files) in healthy().forms() {
        let session = one(&files);
        let blocks = session.messages.iter().flat_map(|message| &message.blocks);
        let blocks = blocks.filter(|block| !matches!(block.content, histories::Block::Result(_)));
        let places: std::collections::BTreeSet<_> = blocks.clone().map(|block| block.place.clone()).collect();
        assert_eq!(places.len(), blocks.count(), "{form}");
    }
}

#[test]
fn messages_are_ordered_by_time_and_id_instead_of_row() {
    let connection = database();
    let mut fixture = healthy();
    for (_, parts) in &mut fixture.messages {
        parts.reverse();
    }
    fixture.messages.reverse();
    fixture.insert_into(&connection);
    assert_eq!(shape(&judged(&bytes_of(connection))), "Ut Ahtcc Trr At Ut");
}

#[test]
fn files_of_other_products_are_not_recognised() {
    let store = store_of(Product::Opencode).unwrap();
    let texts = [
        "",
        "[]",
        "{}",
        "{\"messages\":[]}",
        "{\"info\":{\"id\":\"ses_1\"},\"messages\":[{\"role\":\"user\",\"parts\":[]}]}",
        "{\"info\":{\"id\":\"1\"},\"messages\":[]}",
        "{\"message\":[],\"part\":[]}",
        "{\"message\":[{\"id\":\"1\",\"data\":\"{}\"}],\"part\":[]}",
        "{\"id\":\"ses_1\",\"messages\":[]}",
    ];
    for text in texts {
        assert!(!store.recognises(&Files::one("opencode.json", text)), "{text}");
    }
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch("CREATE TABLE message (id, data); CREATE TABLE part (id, data);").unwrap();
    assert!(!store.recognises(&bytes_of(connection)));
}

#[test]
fn dialects_follow_provider_and_model() {
    let cases = [
        ("anthropic", "claude-x", Some(Dialect::AnthropicMessages)),
        ("openai", "gpt-x", Some(Dialect::OpenaiResponses)),
        ("google", "gemini-x", Some(Dialect::Gemini)),
        ("amazon-bedrock", "claude-x", Some(Dialect::BedrockConverse)),
        ("mistral", "devstral-x", Some(Dialect::Mistral)),
        ("alibaba", "qwen-x", Some(Dialect::OpenaiChat)),
        ("zhipuai", "glm-x", Some(Dialect::OpenaiChat)),
        ("opencode", "claude-x", Some(Dialect::AnthropicMessages)),
        ("opencode", "big-pickle", Some(Dialect::OpenaiChat)),
        ("mock", "mock-1", None),
    ];
    for (provider, model, dialect) in cases {
        let session = one(&Fixture::new(provider, model).export());
        assert_eq!(session.dialect, dialect, "{provider}");
    }
}
