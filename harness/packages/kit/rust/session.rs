//! A conversation: its options, its store and the updates for its user.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

use agent_client_protocol::Client;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    RequestPermissionOutcome, RequestPermissionRequest, SessionNotification,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::gate::Given;

/// The options of a session.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    pub(crate) protocol: u32,
    /// The provider's URL, without `/v1` and without a trailing slash.
    pub base_url: String,
    /// The dialect of the provider.
    pub dialect: String,
    /// The way the history is stored and restored.
    pub mode: String,
    /// True to request thinking from the model.
    #[serde(default)]
    pub thinking: bool,
    /// True to offer the provider's own web search.
    #[serde(default)]
    pub search: bool,
    /// The limit of steps in a turn, if there is one.
    pub max_steps: Option<u32>,
    /// The tools that the model can call.
    pub tools: Vec<Given>,
    model: Option<String>,
    state_dir: PathBuf,
}

impl Spec {
    /// The model for requests: the one that the harness names, or else `unasked`.
    pub fn model<'a>(&'a self, unasked: &'a str) -> &'a str {
        self.model.as_deref().unwrap_or(unasked)
    }
}

/// The reason why a turn did not return.
#[derive(Debug)]
pub enum Failure {
    /// The SDK raised an error.
    Raised {
        /// Its name in the SDK.
        class: String,
        /// The text of the error.
        text: String,
    },
    /// The SDK reports that it was stopped.
    Cancelled,
    /// The store failed. This is not an error of the SDK.
    Store(String),
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Failure {
        let class = std::any::type_name::<E>().rsplit("::").next().unwrap_or_default();
        Failure::Raised { class: class.to_owned(), text: error.to_string() }
    }
}

/// A conversation.
#[derive(Debug)]
pub struct Session {
    /// The options of the session.
    pub spec: Spec,
    pub(crate) id: String,
    client: ConnectionTo<Client>,
    shown: Mutex<HashSet<String>>,
    stop: watch::Sender<bool>,
}

impl Session {
    pub(crate) fn new(spec: Spec, id: String, client: ConnectionTo<Client>) -> Session {
        Session { spec, id, client, shown: Mutex::default(), stop: watch::Sender::new(false) }
    }

    /// The stored history. Empty before the first turn.
    pub fn load<T: DeserializeOwned>(&self) -> Result<Vec<T>, Failure> {
        let text = fs::read(self.file()).map_err(failed)?;
        serde_json::from_slice(&text).map_err(failed)
    }

    /// Stores the history in place of your application's database.
    pub fn save<T: Serialize>(&self, history: &[T]) -> Result<(), Failure> {
        // Written atomically, as in a database: the process may be killed during the write.
        let new = self.file().with_extension("new");
        fs::write(&new, json!(history).to_string()).map_err(failed)?;
        fs::rename(&new, self.file()).map_err(failed)
    }

    /// Shows the user the state of a call. The title is used only when the call is shown for the first time.
    pub fn show(&self, id: &str, status: &str, title: &str) {
        let is_new = self.shown.lock().is_ok_and(|mut shown| shown.insert(id.to_owned()));
        let kind = if is_new { "tool_call" } else { "tool_call_update" };
        let update = json!({ "sessionUpdate": kind, "toolCallId": id, "title": title, "status": status });
        if let Ok(update) = serde_json::from_value(update) {
            // Ignore updates that fail because the harness has exited.
            let _ = self.client.send_notification(SessionNotification::new(self.id.clone(), update));
        }
    }

    /// Reports to the user that a call has ended.
    pub fn settle(&self, id: &str, is_error: bool) {
        self.show(id, if is_error { "failed" } else { "completed" }, "");
    }

    /// Asks the user about a call of a tool that `asks`. Returns nothing after a stop.
    pub async fn ask(&self, call_id: &str) -> Option<bool> {
        let question = json!({ "sessionId": self.id, "toolCall": { "toolCallId": call_id }, "options": [
            { "optionId": "yes", "name": "Yes", "kind": "allow_once" },
            { "optionId": "no", "name": "No", "kind": "reject_once" },
        ] });
        let question: RequestPermissionRequest = serde_json::from_value(question).ok()?;
        let answer = self.client.send_request(question).block_task().await.ok()?;
        match answer.outcome {
            RequestPermissionOutcome::Selected(selected) => Some(selected.option_id.to_string() == "yes"),
            _ => None,
        }
    }

    /// Completes when the user stops the running turn.
    pub async fn stopped(&self) {
        // The session owns the sender, so the channel is open.
        let _ = self.stop.subscribe().wait_for(|is_stopped| *is_stopped).await;
    }

    pub(crate) fn stop(&self) {
        self.stop.send_replace(true);
    }

    pub(crate) fn begin(&self) {
        self.stop.send_replace(false);
    }

    pub(crate) fn stored(&self) -> Result<Vec<Value>, Failure> {
        self.load()
    }

    fn file(&self) -> PathBuf {
        file(&self.spec, &self.id)
    }
}

/// The file of a session.
fn file(spec: &Spec, id: &str) -> PathBuf {
    spec.state_dir.join(format!("{id}.json"))
}

/// Stores a given history for a session that is not open yet.
pub(crate) fn give(spec: &Spec, id: &str, history: &[Value]) -> std::io::Result<()> {
    fs::write(file(spec, id), json!(history).to_string())
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Store(error.to_string())
}
