//! The reference agent, or a canary, as an adapter: ACP on a pair of streams, real HTTP to the provider and the gates.
//!
//! It is what `harness/systems/README.md` asks of an adapter, and knows of the harness only what stands there.

mod desk;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, ContentBlock, InitializeRequest, InitializeResponse,
    LoadSessionRequest, LoadSessionResponse, NewSessionRequest, NewSessionResponse, PromptRequest,
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

use super::action::Action;
use super::in_process::{InProcess, Place, Store};
use super::lines;
use super::process::Limits;
use super::protocol::{About, Capabilities, Changes, PROTOCOL, SessionSpec};
use brickbat_engine::agent::canary::Canary;
use brickbat_engine::agent::{Agent, Delivery, Thinking, Tool};
use brickbat_engine::events::{self, Event, Slip};
use brickbat_scenario::plan::GivenMessage;
use desk::{Desk, Order};

/// The name of the SDK that the reference agent stands for.
pub const SDK: &str = "brickbat-reference";

/// The one mode: how the reference agent keeps a history.
pub const MODE: &str = "thread";

/// What can be fed with events: a store of calls that is right in any order. By the name of a bug it has that bug.
pub const CONSUMER: &str = "store";

/// Which agent is served.
#[derive(Debug, Clone, Copy)]
pub struct Served {
    /// The planted bug, if any.
    pub canary: Option<Canary>,
    /// How replies are asked for.
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
            capabilities: Capabilities {
                cancel: true,
                streaming: self.delivery == Delivery::Streamed,
                eager_tools: self.delivery == Delivery::Streamed,
                barrier: true,
                history: true,
                load: true,
                given_history: true,
                shared_session: true,
                approvals: true,
                thinking: true,
                steer: true,
                second_prompt: true,
                interrupt: true,
                step_limit: true,
                final_tools: true,
                hooks: true,
                changes: Changes { trim: true, summarise: true, rewind: true, aside: true },
            },
        }
    }
}

/// Serves until the input ends.
pub async fn serve(
    served: Served,
    input: impl AsyncBufRead + Unpin + Send + 'static,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<(), Error> {
    let house = Arc::new(House { served, desks: Mutex::default(), n_given: AtomicU32::new(0) });
    let lines = lines::bounded(input, Limits::STANDARD.line_bytes).map_err(std::io::Error::other);
    let transport = Lines::new(writer(output), lines.boxed());
    let (opening, loading, asked) = (house.clone(), house.clone(), house.clone());
    let (stopped, passed, told, receiving) = (house.clone(), house.clone(), house.clone(), house.clone());
    let acted = house.clone();
    Acp.v1()
        .on_receive_request(
            async move |_: InitializeRequest, responder, _connection| responder.respond(house.introduce()?),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, responder, connection| {
                responder.respond_with_result(opening.open(&request, connection))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: LoadSessionRequest, responder, connection| {
                responder.respond_with_result(loading.load(&request, connection))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder: Responder<_>, _connection| match (
                asked.desk(&request.session_id.to_string()),
                words(&request.prompt),
            ) {
                (Ok(desk), Ok(words)) => desk.take(Order::Prompt(words, responder)),
                (Err(error), _) | (_, Err(error)) => responder.respond_with_error(error),
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |request: CancelNotification, _connection| {
                // A notification has no answer: a stop for a session that is not there stops nothing.
                match stopped.desk(&request.session_id.to_string()) {
                    Ok(desk) => desk.take(Order::Cancel),
                    Err(_) => Ok(()),
                }
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: Barrier, responder: Responder<_>, _connection| match passed
                .desk(&request.session_id)
            {
                Ok(desk) => desk.take(Order::Barrier(responder)),
                Err(error) => responder.respond_with_error(error),
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: History, responder: Responder<_>, _connection| match told
                .desk(&request.session_id)
            {
                Ok(desk) => desk.take(Order::History(responder)),
                Err(error) => responder.respond_with_error(error),
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: Give, responder: Responder<_>, _connection| {
                responder.respond_with_result(receiving.receive(request))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: Act, responder: Responder<_>, _connection| match acted
                .desk(&request.session_id)
            {
                Ok(desk) => desk.take(Order::Act(request.action, responder)),
                Err(error) => responder.respond_with_error(error),
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: Replay, responder: Responder<_>, _connection| {
                responder.respond_with_result(replay(&request))
            },
            on_receive_request!(),
        )
        .connect_with(transport, async move |connection: ConnectionTo<Client>| {
            connection.incoming_closed().await;
            Ok(())
        })
        .await
}

/// `_brickbat/barrier`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "_brickbat/barrier", response = Passed)]
#[serde(rename_all = "camelCase")]
struct Barrier {
    session_id: String,
}

/// `_brickbat/action`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "_brickbat/action", response = Passed)]
#[serde(rename_all = "camelCase")]
struct Act {
    session_id: String,
    action: Action,
}

/// The answer to a barrier and to an action.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcResponse)]
struct Passed {}

/// `_brickbat/history`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "_brickbat/history", response = Told)]
#[serde(rename_all = "camelCase")]
struct History {
    session_id: String,
}

/// The answer to it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcResponse)]
struct Told {
    history: Value,
}

/// `_brickbat/give`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "_brickbat/give", response = Received)]
struct Give {
    session: Value,
    history: Vec<GivenMessage>,
}

/// The answer to it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcResponse)]
#[serde(rename_all = "camelCase")]
struct Received {
    session_id: String,
}

/// `_brickbat/events`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "_brickbat/events", response = Replayed)]
struct Replay {
    consumer: String,
    events: Vec<Event>,
}

/// The answer to it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcResponse)]
struct Replayed {
    told: events::Told,
}

fn replay(request: &Replay) -> Result<Replayed, Error> {
    let slip = Slip::ALL.into_iter().find(|slip| slip.name() == request.consumer);
    match slip {
        None if request.consumer != CONSUMER => {
            Err(wrong(format!("unknown consumer `{}`", request.consumer)))
        }
        slip => Ok(Replayed { told: events::told(&request.events, slip) }),
    }
}

/// All sessions of one process. They share nothing but the connection.
struct House {
    served: Served,
    desks: Mutex<HashMap<String, Entrance>>,
    /// Histories that were given so far.
    n_given: AtomicU32,
}

/// The way to the task of one session.
#[derive(Debug, Clone)]
struct Entrance(mpsc::UnboundedSender<Order>);

impl Entrance {
    fn take(&self, order: Order) -> Result<(), Error> {
        match self.0.send(order) {
            Ok(()) => Ok(()),
            Err(refused) => refused.0.refuse(),
        }
    }
}

impl House {
    fn introduce(&self) -> Result<InitializeResponse, Error> {
        let about = serde_json::to_value(self.served.about()).map_err(Error::into_internal_error)?;
        let able = AgentCapabilities::new().load_session(true);
        Ok(InitializeResponse::new(ProtocolVersion::V1).agent_capabilities(able).meta(meta(about)))
    }

    fn open(
        &self,
        request: &NewSessionRequest,
        connection: ConnectionTo<Client>,
    ) -> Result<NewSessionResponse, Error> {
        let spec = SessionSpec::of(request.meta.as_ref()).map_err(wrong)?;
        let (agent, place) = self.hire(&spec)?;
        let mut desks = self.desks();
        // A loaded session may have taken a number already.
        let mut numbers = (desks.len() + 1..).map(|number| format!("session-{number}"));
        let id = numbers.find(|id| !desks.contains_key(id)).unwrap_or_default();
        // A session that dies before its first turn can be loaded, too.
        let mut store = Store::of_session(&spec.state_dir, &id);
        store.write(agent.saved()).map_err(Error::into_internal_error)?;
        let session = InProcess::start_stored(agent, place, store);
        desks.insert(id.clone(), seat(&id, connection, session));
        Ok(NewSessionResponse::new(id))
    }

    /// Puts a history into the store of a session that nobody has opened yet.
    fn receive(&self, request: Give) -> Result<Received, Error> {
        let spec = SessionSpec::of(Some(&meta(request.session))).map_err(wrong)?;
        self.hire(&spec)?;
        let number = self.n_given.fetch_add(1, Ordering::Relaxed) + 1;
        let session_id = format!("given-{number}");
        let mut store = Store::of_session(&spec.state_dir, &session_id);
        store.write(Agent::stored(&request.history)).map_err(Error::into_internal_error)?;
        Ok(Received { session_id })
    }

    /// Opens a session of an earlier process again.
    fn load(
        &self,
        request: &LoadSessionRequest,
        connection: ConnectionTo<Client>,
    ) -> Result<LoadSessionResponse, Error> {
        let spec = SessionSpec::of(request.meta.as_ref()).map_err(wrong)?;
        let (agent, place) = self.hire(&spec)?;
        let id = request.session_id.to_string();
        // The id becomes the name of a file.
        if !id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            return Err(wrong(format!("unknown session `{id}`")));
        }
        let store = Store::of_session(&spec.state_dir, &id);
        let stored = store.read().map_err(Error::into_internal_error)?;
        let stored = stored.ok_or_else(|| wrong(format!("no session `{id}` is stored in `stateDir`")))?;
        let agent = agent.with_thread(&stored).map_err(Error::into_internal_error)?;
        let mut desks = self.desks();
        if desks.contains_key(&id) {
            return Err(wrong(format!("the session `{id}` is open")));
        }
        let session = InProcess::start_stored(agent, place, store);
        desks.insert(id.clone(), seat(&id, connection, session));
        Ok(LoadSessionResponse::new())
    }

    /// The agent of a session, and where it finds what it needs.
    fn hire(&self, spec: &SessionSpec) -> Result<(Agent, Place), Error> {
        if spec.mode != MODE {
            return Err(wrong(format!("unknown mode `{}`; there is {MODE}", spec.mode)));
        }
        let tools = spec.tools.iter().map(|tool| Tool {
            name: tool.name.clone(),
            description: tool.description.clone(),
            input_schema: tool.input_schema.clone(),
            deaf: tool.deaf,
            asks: tool.asks,
            ends: tool.ends,
        });
        let Served { canary, delivery } = self.served;
        let agent = Agent::equipped(spec.dialect, delivery, spec.model.clone(), tools.collect(), canary);
        let agent = if spec.thinking { agent.asking(Thinking::Asked) } else { agent };
        let agent = agent.limited(spec.max_steps);
        let gates = spec.tools.iter().map(|tool| (tool.name.as_str(), tool.gate_url.as_str()));
        let place = Place::new(&spec.base_url, agent.path(), gates);
        Ok((agent, place.map_err(|error| wrong(error.to_string()))?))
    }

    fn desk(&self, session_id: &str) -> Result<Entrance, Error> {
        self.desks().get(session_id).cloned().ok_or_else(|| wrong(format!("unknown session `{session_id}`")))
    }

    fn desks(&self) -> MutexGuard<'_, HashMap<String, Entrance>> {
        self.desks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives a session a task of its own.
fn seat(id: &str, connection: ConnectionTo<Client>, session: InProcess) -> Entrance {
    let (entrance, orders) = mpsc::unbounded_channel();
    // The desk must not keep itself alive.
    let desk = Desk::new(id.to_owned(), connection, session, entrance.downgrade());
    tokio::spawn(desk.run(orders));
    Entrance(entrance)
}

/// The words of a prompt. The protocol on top of ACP has nothing but text.
fn words(prompt: &[ContentBlock]) -> Result<String, Error> {
    let text = prompt.iter().map(|block| match block {
        ContentBlock::Text(text) => Ok(text.text.as_str()),
        _ => Err(wrong("a prompt is text; there is a block of another kind".to_owned())),
    });
    text.collect()
}

fn meta(brickbat: Value) -> Map<String, Value> {
    Map::from_iter([("brickbat".to_owned(), brickbat)])
}

fn wrong(words: String) -> Error {
    Error::invalid_params().data(json!(words))
}

/// One line a message, written at once.
fn writer(
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> impl Sink<String, Error = std::io::Error> + Send + 'static {
    futures::sink::unfold(output, |mut output, line: String| async move {
        output.write_all(format!("{line}\n").as_bytes()).await?;
        output.flush().await?;
        Ok(output)
    })
}
