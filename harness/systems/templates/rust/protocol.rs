//! Speaks Brickbat's protocol for adapter.rs. It knows no SDK, and needs no change for yours.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, ContentBlock, InitializeRequest, InitializeResponse, LoadSessionRequest,
    LoadSessionResponse, NewSessionRequest, NewSessionResponse, PromptRequest, PromptResponse, SessionNotification,
    StopReason,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{
    Agent, Client, Error, JsonRpcRequest, JsonRpcResponse, Stdio, on_receive_notification, on_receive_request,
};
use futures::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

/// A tool of a session.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Given {
    pub name: String,
    pub description: String,
    pub input_schema: Value,
    gate_url: String,
    deaf: bool,
}

/// What a session is opened with.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    protocol: u32,
    pub base_url: String,
    pub dialect: String,
    pub mode: String,
    model: Option<String>,
    state_dir: PathBuf,
    pub tools: Vec<Given>,
}

impl Spec {
    /// The model that requests are to name: `unasked`, unless the harness names one.
    pub fn model<'a>(&'a self, unasked: &'a str) -> &'a str {
        self.model.as_deref().unwrap_or(unasked)
    }
}

/// A conversation.
#[derive(Debug)]
pub struct Session {
    pub spec: Spec,
    id: String,
    client: ConnectionTo<Client>,
    shown: Mutex<HashSet<String>>,
    stop: Mutex<Option<oneshot::Sender<()>>>,
}

/// Why a turn did not return.
#[derive(Debug)]
pub enum Failure {
    /// The SDK raised an error.
    Raised { class: String, text: String },
    /// The store failed, which is no error of the SDK.
    Store(String),
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Failure {
        let class = std::any::type_name::<E>().rsplit("::").next().unwrap_or_default();
        Failure::Raised { class: class.to_owned(), text: error.to_string() }
    }
}

/// Posts a tool's arguments to its gate and waits: the harness decides when and how the tool ends.
pub async fn gate(tool: Given, input: Value) -> Result<String, String> {
    let asking = async move {
        let answer = reqwest::Client::new().post(&tool.gate_url).body(input.to_string()).send().await?;
        answer.text().await
    };
    let said = match tool.deaf {
        // A deaf tool goes on when the SDK gives it up.
        true => tokio::spawn(asking).await.map_err(|error| error.to_string())?,
        false => asking.await,
    };
    // A tool may give half of a character, which no string of Rust can hold.
    let said = said.map_err(|error| error.to_string())?.replace("\\ud83d", "\\ufffd");
    let answer: Value = serde_json::from_str(&said).map_err(|error| error.to_string())?;
    let text = answer["text"].as_str().unwrap_or_default().to_owned();
    if answer["kind"] == "return" { Ok(text) } else { Err(text) }
}

/// The version of a crate that is built in, as the lockfile names it.
fn locked(name: &str) -> String {
    let rest = include_str!("Cargo.lock").split(&format!("name = \"{name}\"\nversion = \"")).nth(1);
    rest.and_then(|rest| rest.split('"').next()).unwrap_or_default().to_owned()
}

impl Session {
    /// What is stored; empty before the first turn.
    pub fn load<T: DeserializeOwned>(&self) -> Result<Vec<T>, Failure> {
        let failed = |error: &dyn std::error::Error| Failure::Store(error.to_string());
        let text = fs::read(self.file()).map_err(|error| failed(&error))?;
        serde_json::from_slice(&text).map_err(|error| failed(&error))
    }

    /// Stores the history: what the database of your application would keep.
    pub fn save<T: Serialize>(&self, history: &[T]) -> Result<(), Failure> {
        let text = json!(history).to_string();
        fs::write(self.file(), text).map_err(|error| Failure::Store(error.to_string()))
    }

    /// Shows the user the state of a call. The title counts when a call is shown first.
    pub fn show(&self, id: &str, status: &str, title: &str) {
        let is_new = self.shown.lock().is_ok_and(|mut shown| shown.insert(id.to_owned()));
        let kind = if is_new { "tool_call" } else { "tool_call_update" };
        let update = json!({ "sessionUpdate": kind, "toolCallId": id, "title": title, "status": status });
        if let Ok(update) = serde_json::from_value(update) {
            // A harness that is gone needs no update.
            let _ = self.client.send_notification(SessionNotification::new(self.id.clone(), update));
        }
    }

    /// Shows the user that a call is over.
    pub fn settle(&self, id: &str, is_error: bool) {
        self.show(id, if is_error { "failed" } else { "completed" }, "");
    }

    fn file(&self) -> PathBuf {
        self.spec.state_dir.join(format!("{}.json", self.id))
    }
}

/// A turn: it ends when everything has ended, and is dropped when the user stops it.
type Turn = fn(Arc<Session>, String) -> BoxFuture<'static, Result<(), Failure>>;

/// What an adapter is, and its sessions.
struct Adapter {
    about: Value,
    dialects: &'static [&'static str],
    turn: Turn,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
}

/// `_brickbat/barrier`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "_brickbat/barrier", response = Passed)]
struct Barrier {}

/// The answer to it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcResponse)]
struct Passed {}

/// Turns of the event loop that bring a byte from the socket through every stage of the SDK, with a margin.
const LOOP_TURNS: usize = 64;

/// Answers the harness until standard input ends.
pub fn serve(sdk: &str, mode: &str, dialects: &'static [&'static str], turn: Turn) {
    // `eagerTools`: whether the SDK starts tools while the reply is still streaming.
    let capabilities = json!({ "cancel": true, "streaming": true, "eagerTools": false, "barrier": true,
        "history": false, "load": true });
    let about = json!({ "protocol": 1, "sdk": sdk, "version": locked(sdk), "modes": [mode],
        "capabilities": capabilities });
    let adapter = Arc::new(Adapter { about, dialects, turn, sessions: Mutex::default() });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime.map(|runtime| runtime.block_on(answer(adapter))) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => eprintln!("{error}"),
        Err(error) => eprintln!("{error}"),
    }
}

async fn answer(adapter: Arc<Adapter>) -> Result<(), Error> {
    let (said, opening, loading) = (adapter.clone(), adapter.clone(), adapter.clone());
    let (asked, stopped) = (adapter.clone(), adapter);
    Agent
        .v1()
        .on_receive_request(
            async move |_: InitializeRequest, responder, _connection| responder.respond(said.introduce()),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, responder, client| {
                let id = uuid::Uuid::new_v4().to_string();
                let opened = opening.open(&id, request.meta, client);
                let saved = opened.and_then(|session| session.save::<Value>(&[]).map_err(internal));
                responder.respond_with_result(saved.map(|()| NewSessionResponse::new(id)))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: LoadSessionRequest, responder, client| {
                let opened = loading.open(&request.session_id.to_string(), request.meta, client);
                let loaded = opened.and_then(|session| session.load::<Value>().map_err(internal));
                responder.respond_with_result(loaded.map(|_| LoadSessionResponse::new()))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder: Responder<PromptResponse>, _connection| {
                match asked.session(&request.session_id.to_string()) {
                    Ok(session) => drop(tokio::spawn(asked.clone().run(session, request, responder))),
                    Err(error) => responder.respond_with_error(error)?,
                }
                Ok(())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |_: Barrier, responder: Responder<Passed>, _connection| {
                tokio::spawn(async move {
                    for _ in 0..LOOP_TURNS {
                        tokio::task::yield_now().await;
                    }
                    responder.respond(Passed {})
                });
                Ok(())
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |request: CancelNotification, _connection| {
                if let Ok(session) = stopped.session(&request.session_id.to_string()) {
                    drop(session.stop.lock().map(|mut stop| stop.take()));
                }
                Ok(())
            },
            on_receive_notification!(),
        )
        .connect_with(Stdio::new(), async move |connection: ConnectionTo<Client>| {
            connection.incoming_closed().await;
            Ok(())
        })
        .await
}

impl Adapter {
    fn introduce(&self) -> InitializeResponse {
        let able = AgentCapabilities::new().load_session(true);
        InitializeResponse::new(ProtocolVersion::V1).agent_capabilities(able).meta(meta(self.about.clone()))
    }

    fn open(
        &self,
        id: &str,
        meta: Option<Map<String, Value>>,
        client: ConnectionTo<Client>,
    ) -> Result<Arc<Session>, Error> {
        let given = meta.and_then(|mut meta| meta.remove("brickbat")).unwrap_or_default();
        let spec: Spec = serde_json::from_value(given).map_err(|error| invalid(error.to_string()))?;
        let has_mode = self.about["modes"].as_array().is_some_and(|modes| modes.contains(&json!(spec.mode)));
        if spec.protocol != 1 || !has_mode || !self.dialects.contains(&spec.dialect.as_str()) {
            return Err(invalid(format!("no mode {} or no dialect {}", spec.mode, spec.dialect)));
        }
        let (shown, stop) = (Mutex::default(), Mutex::default());
        let session = Arc::new(Session { spec, id: id.to_owned(), client, shown, stop });
        self.sessions.lock().map_err(internal)?.insert(id.to_owned(), session.clone());
        Ok(session)
    }

    fn session(&self, id: &str) -> Result<Arc<Session>, Error> {
        let sessions = self.sessions.lock().map_err(internal)?;
        sessions.get(id).cloned().ok_or_else(|| invalid(format!("no session {id}")))
    }

    /// Runs a turn to its real end and says how it ended.
    async fn run(
        self: Arc<Adapter>,
        session: Arc<Session>,
        request: PromptRequest,
        responder: Responder<PromptResponse>,
    ) -> Result<(), Error> {
        let words = |block: &ContentBlock| match block {
            ContentBlock::Text(text) => text.text.clone(),
            _ => String::new(),
        };
        let (stop, stopped) = oneshot::channel();
        session.stop.lock().map_err(internal)?.replace(stop);
        let turn = (self.turn)(session.clone(), request.prompt.iter().map(words).collect());
        let (reason, outcome) = tokio::select! {
            // The other end is dropped when the user stops the turn.
            _ = stopped => (StopReason::Cancelled, json!({ "kind": "cancelled" })),
            end = turn => match end {
                Ok(()) => (StopReason::EndTurn, json!({ "kind": "returned" })),
                Err(Failure::Raised { class, text }) => {
                    (StopReason::EndTurn, json!({ "kind": "raised", "class": class, "text": text }))
                }
                Err(failure) => return responder.respond_with_error(internal(failure)),
            },
        };
        responder.respond(PromptResponse::new(reason).meta(meta(json!({ "outcome": outcome }))))
    }
}

fn meta(brickbat: Value) -> Map<String, Value> {
    Map::from_iter([("brickbat".to_owned(), brickbat)])
}

fn invalid(why: String) -> Error {
    Error::invalid_params().data(json!(why))
}

fn internal(why: impl std::fmt::Debug) -> Error {
    Error::internal_error().data(json!(format!("{why:?}")))
}
