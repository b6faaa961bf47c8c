//! The reference agent, or a canary, as an adapter: ACP on a pair of streams, real HTTP to the provider and
//! the gates.
//!
//! It implements what `harness/systems/README.md` requires from an adapter, and relies only on that
//! page's description of the harness.

mod session_task;

use std::array;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, CloseSessionRequest, CloseSessionResponse, ContentBlock,
    InitializeRequest, InitializeResponse, LoadSessionRequest, LoadSessionResponse, NewSessionRequest,
    NewSessionResponse, PromptRequest, PromptResponse, SessionCapabilities, SessionCloseCapabilities,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{
    Agent as Acp, Client, Error, JsonRpcRequest, JsonRpcResponse, Lines, on_receive_notification,
    on_receive_request,
};
use futures::{Sink, StreamExt, TryStreamExt};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

use super::action::SessionAction;
use super::capability::Capabilities;
use super::in_process::{Endpoints, InProcess, Store};
use super::lines;
use super::process::ProcessLimits;
use super::protocol::{About, PROTOCOL, Reading, SessionSpec, ToolSpec};
use brickbat_engine::agent::{Agent, Delivery, Searching, Thinking};
use brickbat_engine::events::{self, Event, StoreBug};
use brickbat_engine::flaws::Canary;
use brickbat_scenario::plan::GivenMessage;
use session_task::{SessionCommand, SessionTask, gone};

/// The name of the reference agent as an SDK.
pub const SDK: &str = "brickbat-reference";

/// The only mode: how the reference agent keeps a history.
pub const MODE: &str = "thread";

/// The consumer that can be fed with events: a store of calls that is correct in any order. A consumer
/// named after a bug has that bug.
pub const CONSUMER: &str = "store";

/// The agent that is served.
#[derive(Debug, Clone, Copy)]
pub struct Served {
    pub canary: Option<Canary>,
    pub delivery: Delivery,
}

impl Served {
    fn about(self) -> About {
        About {
            protocol: PROTOCOL,
            sdk: SDK.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            modes: vec![MODE.to_owned()],
            consumers: vec![CONSUMER.to_owned()],
            // The writes of our own agent's store are held only in the simulation.
            capabilities: Capabilities::all()
                .with("saving", false)
                .with("failingWrites", false)
                .with("streaming", self.delivery == Delivery::Streamed)
                .with("eagerTools", self.delivery == Delivery::Streamed),
        }
    }
}

/// Serves until the input ends.
pub async fn serve(
    served: Served,
    input: impl AsyncBufRead + Unpin + Send + 'static,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<(), Error> {
    let all = Arc::new(Sessions {
        served,
        sessions: Mutex::default(),
        n_opened: AtomicU32::new(0),
        n_given: AtomicU32::new(0),
    });
    let lines = lines::bounded(input, ProcessLimits::STANDARD.line_bytes).map_err(std::io::Error::other);
    let transport = Lines::new(writer(output), lines.boxed());
    let [intro, open, load, close, prompt, cancel, barrier, history, give, act] =
        array::from_fn(|_| all.clone());
    Acp.v1()
        .on_receive_request(
            async move |_: InitializeRequest, responder, _| responder.respond(intro.introduce()?),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, responder, connection| {
                responder.respond_with_result(open.open(&request, connection))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: LoadSessionRequest, responder, connection| {
                responder.respond_with_result(load.load(&request, connection))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: CloseSessionRequest, responder, _connection| {
                responder.respond_with_result(close.close(&request.session_id.to_string()))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, _connection| prompt.prompt(&request, responder),
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |request: CancelNotification, _connection| {
                cancel.command(&request.session_id.to_string(), SessionCommand::Cancel)
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: BarrierRequest, responder, _connection| {
                barrier.command(&request.session_id, SessionCommand::Barrier(responder))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: HistoryRequest, responder, _connection| {
                history.command(&request.session_id, SessionCommand::History(responder))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: GiveRequest, responder: Responder<_>, _connection| {
                responder.respond_with_result(give.receive(request))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ActionRequest, responder, _connection| {
                act.command(&request.session_id, SessionCommand::Act(request.action, responder))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: FeedRequest, responder: Responder<_>, _connection| feed(&request, responder),
            on_receive_request!(),
        )
        .connect_with(transport, async move |connection: ConnectionTo<Client>| {
            connection.incoming_closed().await;
            Ok(())
        })
        .await
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "_brickbat/barrier", response = Passed)]
#[serde(rename_all = "camelCase")]
struct BarrierRequest {
    session_id: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "_brickbat/action", response = Acknowledged)]
#[serde(rename_all = "camelCase")]
struct ActionRequest {
    session_id: String,
    action: SessionAction,
}

/// The answer to a barrier.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcResponse)]
struct Passed {
    /// The bytes that the agent has read from each socket.
    read: Vec<Reading>,
}

/// The answer to an action.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcResponse)]
struct Acknowledged {}

#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "_brickbat/history", response = StoredHistory)]
#[serde(rename_all = "camelCase")]
struct HistoryRequest {
    session_id: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcResponse)]
struct StoredHistory {
    history: Value,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "_brickbat/give", response = GivenSession)]
struct GiveRequest {
    session: Value,
    history: Vec<GivenMessage>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcResponse)]
#[serde(rename_all = "camelCase")]
struct GivenSession {
    session_id: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "_brickbat/events", response = FeedAnswer)]
struct FeedRequest {
    consumer: String,
    events: Vec<Event>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcResponse)]
struct FeedAnswer {
    told: events::Consumed,
}

fn feed(request: &FeedRequest, responder: Responder<FeedAnswer>) -> Result<(), Error> {
    let bug = StoreBug::ALL.into_iter().find(|bug| bug.name() == request.consumer);
    match bug {
        None if request.consumer != CONSUMER => {
            responder.respond_with_error(wrong(format!("unknown consumer `{}`", request.consumer)))
        }
        bug => responder.respond(FeedAnswer { told: events::consume(&request.events, bug) }),
    }
}

/// All sessions of one process. They share only the connection.
struct Sessions {
    served: Served,
    sessions: Mutex<HashMap<String, SessionHandle>>,
    n_opened: AtomicU32,
    n_given: AtomicU32,
}

/// The channel to the task of one session.
type SessionHandle = mpsc::UnboundedSender<SessionCommand>;

impl Sessions {
    fn introduce(&self) -> Result<InitializeResponse, Error> {
        let about = serde_json::to_value(self.served.about()).map_err(Error::into_internal_error)?;
        let closes = SessionCapabilities::new().close(SessionCloseCapabilities::new());
        let able = AgentCapabilities::new().load_session(true).session_capabilities(closes);
        Ok(InitializeResponse::new(ProtocolVersion::V1).agent_capabilities(able).meta(meta(about)))
    }

    fn open(
        &self,
        request: &NewSessionRequest,
        connection: ConnectionTo<Client>,
    ) -> Result<NewSessionResponse, Error> {
        let spec = SessionSpec::of(request.meta.as_ref()).map_err(wrong)?;
        let (agent, endpoints) = self.agent_for(&spec)?;
        let mut sessions = self.sessions();
        // The id of a closed session is not used again, and a loaded session may have the number already.
        let id = loop {
            let id = format!("session-{}", self.n_opened.fetch_add(1, Ordering::Relaxed) + 1);
            if !sessions.contains_key(&id) {
                break id;
            }
        };
        // The file is written now, because even a session that dies before its first turn can be loaded.
        let mut store = Store::of_session(&spec.state_dir, &id);
        store.write(agent.saved()).map_err(Error::into_internal_error)?;
        let session = InProcess::start_stored(agent, endpoints, store);
        sessions.insert(id.clone(), start_task(&id, connection, session));
        Ok(NewSessionResponse::new(id))
    }

    /// Puts a history into the store of a session that is not open yet.
    fn receive(&self, request: GiveRequest) -> Result<GivenSession, Error> {
        let spec = SessionSpec::of(Some(&meta(request.session))).map_err(wrong)?;
        self.agent_for(&spec)?;
        let number = self.n_given.fetch_add(1, Ordering::Relaxed) + 1;
        let session_id = format!("given-{number}");
        let mut store = Store::of_session(&spec.state_dir, &session_id);
        store.write(Agent::stored(&request.history)).map_err(Error::into_internal_error)?;
        Ok(GivenSession { session_id })
    }

    /// Reopens a session of an earlier process.
    fn load(
        &self,
        request: &LoadSessionRequest,
        connection: ConnectionTo<Client>,
    ) -> Result<LoadSessionResponse, Error> {
        let spec = SessionSpec::of(request.meta.as_ref()).map_err(wrong)?;
        let (agent, endpoints) = self.agent_for(&spec)?;
        let id = request.session_id.to_string();
        // The id becomes the name of a file.
        if !id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            return Err(wrong(format!("unknown session `{id}`")));
        }
        let store = Store::of_session(&spec.state_dir, &id);
        let stored = store.read().map_err(Error::into_internal_error)?;
        let stored = stored.ok_or_else(|| wrong(format!("no session `{id}` is stored in `stateDir`")))?;
        let agent = agent.with_thread(&stored).map_err(Error::into_internal_error)?;
        let mut sessions = self.sessions();
        if sessions.contains_key(&id) {
            return Err(wrong(format!("the session `{id}` is open")));
        }
        let session = InProcess::start_stored(agent, endpoints, store);
        sessions.insert(id.clone(), start_task(&id, connection, session));
        Ok(LoadSessionResponse::new())
    }

    /// Closes a session: its task ends with its channel. The store stays.
    fn close(&self, id: &str) -> Result<CloseSessionResponse, Error> {
        match self.sessions().remove(id) {
            Some(_) => Ok(CloseSessionResponse::new()),
            None => Err(unknown_session(id)),
        }
    }

    /// The agent of a session, and the addresses that it needs.
    fn agent_for(&self, spec: &SessionSpec) -> Result<(Agent, Endpoints), Error> {
        if spec.mode != MODE {
            return Err(wrong(format!("unknown mode `{}`; there is {MODE}", spec.mode)));
        }
        let tools = spec.tools.iter().map(ToolSpec::tool);
        let Served { canary, delivery } = self.served;
        let agent = Agent::equipped(spec.dialect, delivery, spec.model.clone(), tools.collect(), canary);
        let agent = if spec.thinking { agent.asking(Thinking::Asked) } else { agent };
        let agent = if spec.search { agent.searching(Searching::Offered) } else { agent };
        let agent = agent.limited(spec.max_steps);
        let gates = spec.tools.iter().map(|tool| (tool.name.as_str(), tool.gate_url.as_str()));
        let endpoints = Endpoints::new(&spec.base_url, agent.path(), gates);
        Ok((agent, endpoints.map_err(wrong)?))
    }

    fn prompt(&self, request: &PromptRequest, responder: Responder<PromptResponse>) -> Result<(), Error> {
        let id = request.session_id.to_string();
        if !self.sessions().contains_key(&id) {
            return responder.respond_with_error(unknown_session(&id));
        }
        match words(&request.prompt) {
            Ok(words) => self.command(&id, SessionCommand::Prompt(words, responder)),
            Err(error) => responder.respond_with_error(error),
        }
    }

    /// Passes a command on to a session, or answers it with an error.
    fn command(&self, id: &str, command: SessionCommand) -> Result<(), Error> {
        let handle = self.sessions().get(id).cloned();
        match handle {
            Some(handle) => handle.send(command).or_else(|refused| refused.0.refuse(gone())),
            None => command.refuse(unknown_session(id)),
        }
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, SessionHandle>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts the task of a session.
fn start_task(id: &str, connection: ConnectionTo<Client>, session: InProcess) -> SessionHandle {
    let (handle, commands) = mpsc::unbounded_channel();
    // The task must not keep itself alive.
    let task = SessionTask::new(id.to_owned(), connection, session, handle.downgrade());
    tokio::spawn(task.run(commands));
    handle
}

/// The text of a prompt. The protocol on top of ACP has only text.
fn words(prompt: &[ContentBlock]) -> Result<String, Error> {
    let text = prompt.iter().map(|block| match block {
        ContentBlock::Text(text) => Ok(text.text.as_str()),
        _ => Err(wrong("a prompt is text, but this one has a block of another kind")),
    });
    text.collect()
}

fn meta(brickbat: Value) -> Map<String, Value> {
    Map::from_iter([("brickbat".to_owned(), brickbat)])
}

fn unknown_session(id: &str) -> Error {
    wrong(format!("unknown session `{id}`"))
}

fn wrong(why: impl std::fmt::Display) -> Error {
    Error::invalid_params().data(json!(why.to_string()))
}

/// One line for each message, written immediately.
fn writer(
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> impl Sink<String, Error = std::io::Error> + Send + 'static {
    futures::sink::unfold(output, |mut output, line: String| async move {
        output.write_all(format!("{line}\n").as_bytes()).await?;
        output.flush().await?;
        Ok(output)
    })
}
