//! Tracks open requests and known sessions, to detect an answer without a request and a message of an unknown
//! session.
//!
//! The ACP crate drops both silently; a harness that relies on every answer must not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

/// The conversation with one process: its open requests and its sessions.
#[derive(Debug, Default)]
pub struct Talk(Mutex<TalkState>);

#[derive(Debug, Default)]
struct TalkState {
    /// The methods of the requests without an answer, by their ids.
    asked: BTreeMap<String, String>,
    /// Every session that was opened or loaded, even those that have ended: a late message of one is not an
    /// error.
    sessions: BTreeSet<String>,
}

/// A valid message that refers to nothing.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unexpected {
    #[error("an answer to a question that was not asked, or a second answer")]
    Answer,
    #[error("a call in a session that was never opened")]
    Call,
}

impl Talk {
    pub(super) fn sent(&self, line: &str) {
        let Ok(Value::Object(message)) = serde_json::from_str(line) else { return };
        let (Some(id), Some(method)) = (message.get("id"), message.get("method").and_then(Value::as_str))
        else {
            return;
        };
        let mut state = self.state();
        if method == "session/load" {
            // Updates during the load already belong to that session.
            state.sessions.extend(session_of(message.get("params")));
        }
        state.asked.insert(id.to_string(), method.to_owned());
    }

    /// Records a message of the adapter; returns its error, if any.
    pub(super) fn heard(&self, message: &Map<String, Value>) -> Result<(), Unexpected> {
        let mut state = self.state();
        match (message.get("method").and_then(Value::as_str), message.get("id")) {
            (Some("session/update"), _) => state.check_update(message.get("params")),
            // An answer without an id refers to a message that the adapter could not read.
            (Some(_), _) | (None, None | Some(Value::Null)) => Ok(()),
            (None, Some(id)) => {
                let asked = state.asked.remove(&id.to_string());
                let method = asked.ok_or(Unexpected::Answer)?;
                if method == "session/new" {
                    state.sessions.extend(session_of(message.get("result")));
                }
                Ok(())
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, TalkState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TalkState {
    fn check_update(&self, params: Option<&Value>) -> Result<(), Unexpected> {
        let kind = params.and_then(|params| params["update"]["sessionUpdate"].as_str()).unwrap_or_default();
        let is_of_call = matches!(kind, "tool_call" | "tool_call_update");
        match session_of(params) {
            Some(id) if is_of_call && !self.sessions.contains(&id) => Err(Unexpected::Call),
            _ => Ok(()),
        }
    }
}

fn session_of(params: Option<&Value>) -> Option<String> {
    params.and_then(|params| params["sessionId"].as_str()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(talk: &Talk, line: &str) -> Result<(), Unexpected> {
        let Ok(Value::Object(message)) = serde_json::from_str(line) else { panic!("{line}") };
        talk.heard(&message)
    }

    #[test]
    fn an_answer_belongs_to_a_question() {
        let talk = Talk::default();
        talk.sent(r#"{"jsonrpc":"2.0","id":"1","method":"session/prompt","params":{"sessionId":"s"}}"#);
        talk.sent(r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#);
        assert!(heard(&talk, r#"{"jsonrpc":"2.0","id":"2","result":{}}"#).is_err());
        assert_eq!(heard(&talk, r#"{"jsonrpc":"2.0","id":"1","result":{}}"#), Ok(()));
        assert!(heard(&talk, r#"{"jsonrpc":"2.0","id":"1","result":{}}"#).is_err());
        assert_eq!(heard(&talk, r#"{"jsonrpc":"2.0","id":null,"error":{}}"#), Ok(()));
        assert_eq!(heard(&talk, r#"{"jsonrpc":"2.0","id":9,"method":"session/request_permission"}"#), Ok(()));
    }

    #[test]
    fn a_call_belongs_to_a_session() {
        let talk = Talk::default();
        let update = |id: &str, kind: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{id}","update":{{"sessionUpdate":"{kind}"}}}}}}"#
            )
        };
        assert!(heard(&talk, &update("s", "tool_call")).is_err());
        assert_eq!(heard(&talk, &update("s", "available_commands_update")), Ok(()));
        talk.sent(r#"{"jsonrpc":"2.0","id":"1","method":"session/new","params":{}}"#);
        assert_eq!(heard(&talk, r#"{"jsonrpc":"2.0","id":"1","result":{"sessionId":"s"}}"#), Ok(()));
        assert_eq!(heard(&talk, &update("s", "tool_call")), Ok(()));
        talk.sent(r#"{"jsonrpc":"2.0","id":"2","method":"session/load","params":{"sessionId":"old"}}"#);
        assert_eq!(heard(&talk, &update("old", "tool_call_update")), Ok(()));
    }
}
