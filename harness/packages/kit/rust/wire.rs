//! The protocol on standard input and output.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, CloseSessionRequest, CloseSessionResponse, ContentBlock,
    InitializeRequest, InitializeResponse, LoadSessionRequest, LoadSessionResponse, NewSessionRequest,
    NewSessionResponse, PromptRequest, PromptResponse, SessionCapabilities, SessionCloseCapabilities,
    StopReason,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{
    Agent, Client, Error, JsonRpcRequest, JsonRpcResponse, Stdio, on_receive_notification, on_receive_request,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::session::{self, Failure, Session, Spec};
use crate::{Adapter, Stop};

#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "_brickbat/barrier", response = Passed)]
struct Barrier {}

#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcResponse)]
struct Passed {}

#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "_brickbat/history", response = Stored)]
#[serde(rename_all = "camelCase")]
struct History {
    session_id: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcResponse)]
struct Stored {
    history: Value,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "_brickbat/give", response = Taken)]
struct GiveHistory {
    session: Value,
    history: Vec<Value>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcResponse)]
#[serde(rename_all = "camelCase")]
struct Taken {
    session_id: String,
}

/// Turns of the event loop after which a byte from the socket has passed every stage of the SDK, with a margin.
const LOOP_TURNS: usize = 64;

/// An adapter and its sessions.
struct Served {
    adapter: Adapter,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
}

/// Serves the protocol until standard input ends.
pub(crate) async fn answer(adapter: Adapter) -> Result<(), Error> {
    let served = Arc::new(Served { adapter, sessions: Mutex::default() });
    let [said, opening, loading, closing, asked, stopped, shown, given] =
        std::array::from_fn(|_| served.clone());
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
                let loaded = opened.and_then(|session| session.stored().map_err(internal));
                responder.respond_with_result(loaded.map(|_| LoadSessionResponse::new()))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: CloseSessionRequest, responder, _connection| {
                responder.respond_with_result(closing.close(&request.session_id.to_string()))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder: Responder<PromptResponse>, _connection| {
                match asked.session(&request.session_id.to_string()) {
                    Ok(session) => {
                        // A stop before the first poll of the turn still counts for this turn.
                        session.begin();
                        drop(tokio::spawn(asked.clone().run(session, request, responder)));
                    }
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
        .on_receive_request(
            async move |request: History, responder: Responder<Stored>, _connection| {
                responder.respond_with_result(shown.history(&request.session_id))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: GiveHistory, responder: Responder<Taken>, _connection| {
                responder.respond_with_result(given.receive(request))
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |request: CancelNotification, _connection| {
                if let Ok(session) = stopped.session(&request.session_id.to_string()) {
                    session.stop();
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

impl Served {
    fn introduce(&self) -> InitializeResponse {
        let close = self.adapter.closed.map(|_| SessionCloseCapabilities::new());
        let able = AgentCapabilities::new().load_session(self.adapter.can("load"));
        let able = able.session_capabilities(SessionCapabilities::new().close(close));
        InitializeResponse::new(ProtocolVersion::V1).agent_capabilities(able).meta(meta(self.adapter.about()))
    }

    fn open(
        &self,
        id: &str,
        meta: Option<Map<String, Value>>,
        client: ConnectionTo<Client>,
    ) -> Result<Arc<Session>, Error> {
        let spec = self.spec(meta.and_then(|mut meta| meta.remove("brickbat")).unwrap_or_default())?;
        let session = Arc::new(Session::new(spec, id.to_owned(), client));
        self.sessions.lock().map_err(internal)?.insert(id.to_owned(), session.clone());
        Ok(session)
    }

    fn spec(&self, given: Value) -> Result<Spec, Error> {
        let spec: Spec = serde_json::from_value(given).map_err(|error| invalid(error.to_string()))?;
        let Adapter { modes, dialects, .. } = &self.adapter;
        if spec.protocol != 1 || !modes.contains(&spec.mode) || !dialects.contains(&spec.dialect) {
            return Err(invalid(format!("unknown mode {} or unknown dialect {}", spec.mode, spec.dialect)));
        }
        Ok(spec)
    }

    fn session(&self, id: &str) -> Result<Arc<Session>, Error> {
        let sessions = self.sessions.lock().map_err(internal)?;
        sessions.get(id).cloned().ok_or_else(|| invalid(format!("unknown session {id}")))
    }

    fn close(&self, id: &str) -> Result<CloseSessionResponse, Error> {
        let session = self.session(id)?;
        self.sessions.lock().map_err(internal)?.remove(id);
        session.stop();
        if let Some(closed) = self.adapter.closed {
            closed(&session);
        }
        Ok(CloseSessionResponse::new())
    }

    fn history(&self, id: &str) -> Result<Stored, Error> {
        let stored = self.session(id)?.stored().map_err(internal)?;
        Ok(Stored { history: Value::Array(stored) })
    }

    fn receive(&self, request: GiveHistory) -> Result<Taken, Error> {
        let give = self.adapter.give.ok_or_else(Error::method_not_found)?;
        let spec = self.spec(request.session)?;
        let history = give(&spec, &request.history).map_err(|error| invalid(error.to_string()))?;
        let session_id = uuid::Uuid::new_v4().to_string();
        session::give(&spec, &session_id, &history).map_err(internal)?;
        Ok(Taken { session_id })
    }

    /// Runs a turn until all its work has ended and returns its outcome.
    async fn run(
        self: Arc<Served>,
        session: Arc<Session>,
        request: PromptRequest,
        responder: Responder<PromptResponse>,
    ) -> Result<(), Error> {
        let words = |block: &ContentBlock| match block {
            ContentBlock::Text(text) => text.text.clone(),
            _ => String::new(),
        };
        let turn = (self.adapter.turn)(session.clone(), request.prompt.iter().map(words).collect());
        let end = match self.adapter.stop {
            Stop::Ask => turn.await,
            Stop::Drop => tokio::select! {
                () = session.stopped() => Err(Failure::Cancelled),
                end = turn => end,
            },
        };
        let (reason, outcome) = match end {
            Ok(()) => (StopReason::EndTurn, json!({ "kind": "returned" })),
            Err(Failure::Cancelled) => (StopReason::Cancelled, json!({ "kind": "cancelled" })),
            Err(Failure::Raised { class, text }) => {
                (StopReason::EndTurn, json!({ "kind": "raised", "class": class, "text": text }))
            }
            Err(failure @ Failure::Store(_)) => return responder.respond_with_error(internal(failure)),
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
