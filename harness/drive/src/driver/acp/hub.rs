//! The hub between the connection to an adapter and the sessions that wait for its messages.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use agent_client_protocol::v1::schema::{PromptResponse, RequestPermissionOutcome, RequestPermissionRequest};
use agent_client_protocol::{JsonRpcNotification, is_connection_terminated, is_incoming_transport_closed};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::{Notify, mpsc, watch};

use crate::driver::error::DriverError;
use crate::driver::event::SessionEvent;
use crate::driver::questions::Questions;
use crate::driver::{lines, plain, protocol};

/// The maximum number of events kept for one session until they are taken. A turn shows each of its few
/// calls about four times, and the runner takes events as they arrive.
const MAX_EVENTS: usize = 4096;

/// Passes incoming messages from the connection to the sessions that wait for them.
#[derive(Debug)]
pub(super) struct Hub {
    sessions: Mutex<HashMap<String, mpsc::Sender<SessionEvent>>>,
    pub(super) questions: Questions,
    /// The reason why the connection ended, once it has.
    pub(super) failure: watch::Sender<Option<DriverError>>,
    /// Notified when our side is to close the connection.
    pub(super) hanging_up: Notify,
}

impl Default for Hub {
    fn default() -> Hub {
        Hub {
            sessions: Mutex::default(),
            questions: Questions::default(),
            failure: watch::Sender::new(None),
            hanging_up: Notify::new(),
        }
    }
}

impl Hub {
    pub(super) fn enter(&self, id: &str) -> Result<mpsc::Receiver<SessionEvent>, DriverError> {
        let (sender, events) = mpsc::channel(MAX_EVENTS);
        let mut sessions = self.sessions();
        if sessions.contains_key(id) {
            return Err(DriverError::violation(
                "its answer to session/new names a session that is already open",
                id,
            ));
        }
        // A connection that has ended would never close the session: `fail` has already run.
        match &*self.failure.borrow() {
            Some(failure) => return Err(failure.clone()),
            None => sessions.insert(id.to_owned(), sender),
        };
        Ok(events)
    }

    pub(super) fn leave(&self, id: &str) {
        self.sessions().remove(id);
        self.questions.leave(id);
    }

    /// Passes on an update. Updates for a session that was closed are dropped.
    pub(super) fn show(&self, update: &Update) {
        // The line was checked before, so an update that does not parse never gets here.
        if let Ok(Some((id, state))) = lines::shown(&update.update) {
            self.send(&update.session_id, SessionEvent::Shown { id, state });
        }
    }

    /// Forwards a permission request; requests for a closed session are dropped.
    pub(super) fn ask(
        &self,
        request: &RequestPermissionRequest,
        reply: impl FnOnce(RequestPermissionOutcome) + Send + 'static,
    ) {
        let session = request.session_id.to_string();
        let Some(question) = self.questions.keep(request, reply) else { return };
        let id = request.tool_call.tool_call_id.to_string();
        let args = request.tool_call.fields.raw_input.as_ref().map(Value::to_string);
        self.send(&session, SessionEvent::Asked { question, id, args });
        if !self.sessions().contains_key(&session) {
            self.questions.leave(&session);
        }
    }

    pub(super) fn end_turn(
        &self,
        id: &str,
        result: Result<PromptResponse, agent_client_protocol::Error>,
        plain: bool,
    ) {
        let ended = match result {
            // The connection is over: `fail` reports the cause to every session.
            Err(error) if is_over(&error) => return,
            result if plain => Ok(plain::outcome(result)),
            Ok(answer) => protocol::repaired(answer.meta.as_ref()).and_then(|repaired| {
                repaired.into_iter().for_each(|name| self.send(id, SessionEvent::Repaired(name)));
                protocol::outcome(answer.meta.as_ref())
            }),
            Err(error) => Err(DriverError::refused("session/prompt", error)),
        };
        self.send(id, ended.map_or_else(SessionEvent::Lost, SessionEvent::Ended));
    }

    /// Handles the end of a turn that was prompted while another ran. An error means that the prompt was
    /// refused.
    pub(super) fn end_turn_beside(
        &self,
        id: &str,
        result: Result<PromptResponse, agent_client_protocol::Error>,
        plain: bool,
    ) {
        match result {
            Err(error) if !is_over(&error) => self.send(id, SessionEvent::PromptRefused),
            result => self.end_turn(id, result, plain),
        }
    }

    /// Sends an event to a session. A session that does not take its events is closed: its receiver then
    /// finds the end of the channel.
    pub(super) fn send(&self, id: &str, event: SessionEvent) {
        let mut sessions = self.sessions();
        if let Some(sender) = sessions.get(id)
            && sender.try_send(event).is_err()
        {
            sessions.remove(id);
        }
    }

    pub(super) fn fail(&self, failure: DriverError) {
        let mut sessions = self.sessions();
        self.failure.send_replace(Some(failure));
        sessions.clear();
    }

    pub(super) async fn cause(&self) -> DriverError {
        let mut failure = self.failure.subscribe();
        let known = tokio::time::timeout(CAUSE_WAIT, failure.wait_for(Option::is_some)).await;
        let failure = known.ok().and_then(Result::ok).and_then(|failure| failure.clone());
        failure.unwrap_or_else(|| DriverError::AdapterExited {
            status: "its connection closed".to_owned(),
            stderr: String::new(),
        })
    }

    /// The reason why a session was closed. If the connection is still open, the session's events were not
    /// read.
    pub(super) fn why_closed(&self) -> DriverError {
        let failure = self.failure.borrow().clone();
        failure.unwrap_or(DriverError::EventOverflow { limit: MAX_EVENTS })
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, HashMap<String, mpsc::Sender<SessionEvent>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The time limit for learning why a connection broke: a little longer than waiting for the process to
/// exit.
const CAUSE_WAIT: Duration = Duration::from_secs(6);

/// `session/update`, reduced to the fields that are used.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcNotification)]
#[notification(method = "session/update")]
#[serde(rename_all = "camelCase")]
pub(super) struct Update {
    session_id: String,
    pub(super) update: Value,
}

/// True if a request failed because the connection has ended.
pub(super) fn is_over(error: &agent_client_protocol::Error) -> bool {
    is_incoming_transport_closed(error) || is_connection_terminated(error) || is_unsent(error)
}

/// True if a request arrived while the connection was closing: `agent-client-protocol` 5.0.0 reports that
/// only in the message. A peer that answers with the same message is treated as gone, too.
fn is_unsent(error: &agent_client_protocol::Error) -> bool {
    let words = error.data.as_ref().and_then(Value::as_str);
    words.is_some_and(|words| words.starts_with("failed to send outgoing request `"))
}
