//! Checks whether the client accepts the events: the order of runs, texts and calls. Steps, thoughts and
//! sub-agents are not checked.

use std::collections::BTreeSet;

use brickbat_rules::json::Json;

use crate::Place;
use crate::json::word;
use crate::stores::list_reader::place_of;

/// The first event that the client rejects, and its error without the ids.
/// <https://github.com/ag-ui-protocol/ag-ui/blob/main/sdks/typescript/packages/client/src/verify/verify.ts>
pub(super) fn refusal(events: Json<'_, '_>) -> Option<(Place, String)> {
    let mut run = Run::default();
    for (n, event) in events.items().enumerate() {
        if let Some(words) = run.take(event) {
            return Some((place_of(event, format!("/{n}")), words));
        }
    }
    None
}

/// The open run, texts and calls of a stream.
#[derive(Default)]
struct Run {
    state: State,
    texts: BTreeSet<String>,
    calls: BTreeSet<String>,
}

/// The progress of a run.
#[derive(Default, PartialEq, Eq)]
enum State {
    #[default]
    NotBegun,
    Active,
    Finished,
    Failed,
}

impl Run {
    /// The error of the client if it rejects the event.
    fn take(&mut self, event: Json<'_, '_>) -> Option<String> {
        let kind = word(&event.field("type").as_str().unwrap_or_default());
        let kind = kind.as_str();
        match (&self.state, kind) {
            (State::NotBegun, "RUN_STARTED" | "RUN_ERROR") | (State::Finished, "RUN_ERROR") => {}
            (State::Finished | State::Failed, "RUN_STARTED") => *self = Run::default(),
            (State::NotBegun, _) => return Some("First event must be 'RUN_STARTED'".to_owned()),
            (State::Failed, _) => {
                return Some(format!(
                    "Cannot send event type '{kind}': The run has already errored with 'RUN_ERROR'."
                ));
            }
            (State::Finished, _) => {
                return Some(format!(
                    "Cannot send event type '{kind}': The run has already finished with 'RUN_FINISHED'."
                ));
            }
            (State::Active, "RUN_STARTED") => {
                return Some("Cannot send 'RUN_STARTED' while a run is still active.".to_owned());
            }
            (State::Active, _) => {}
        }
        self.state = match kind {
            "RUN_ERROR" => State::Failed,
            "RUN_FINISHED" => State::Finished,
            _ => State::Active,
        };
        self.pair(event, kind)
    }

    /// The error of the client if texts and calls do not begin and end in pairs.
    fn pair(&mut self, event: Json<'_, '_>, kind: &str) -> Option<String> {
        let is_text = kind.starts_with("TEXT_MESSAGE_");
        let (open, key, what) = match is_text {
            true => (&mut self.texts, "messageId", "text message"),
            false => (&mut self.calls, "toolCallId", "tool call"),
        };
        let id = || event.field(key).as_str().unwrap_or_default().into_owned();
        let is_fine = match kind {
            "TEXT_MESSAGE_START" | "TOOL_CALL_START" if !open.insert(id()) => {
                return Some(format!(
                    "Cannot send '{kind}' event: A {what} with that ID is already in progress."
                ));
            }
            "TEXT_MESSAGE_CONTENT" | "TOOL_CALL_ARGS" => open.contains(&id()),
            "TEXT_MESSAGE_END" | "TOOL_CALL_END" => open.remove(&id()),
            "RUN_FINISHED" if !self.texts.is_empty() => {
                return Some(format!("Cannot send '{kind}' while text messages are still active"));
            }
            "RUN_FINISHED" if !self.calls.is_empty() => {
                return Some(format!("Cannot send '{kind}' while tool calls are still active"));
            }
            _ => true,
        };
        match is_fine {
            true => None,
            false => Some(format!("Cannot send '{kind}' event: No active {what} found with that ID.")),
        }
    }
}
