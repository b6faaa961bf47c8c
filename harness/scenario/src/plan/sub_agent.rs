//! The sub-agents of a plan, each with its own conversation with the provider.

use serde::Serialize;
use serde_json::{Value, json};

use super::{CallKey, MARKER, Plan, Script};
use crate::history::{Content, History, Role};

/// The only argument of a call that starts a sub-agent: its prompt. SDKs that make a tool of an agent use
/// this name.
pub const PROMPT: &str = "input";

/// A sub-agent that a call in the plan starts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedSubAgent {
    /// The call that starts it. The prompt of the sub-agent contains the marker of this call.
    pub call: CallKey,
    /// The replies of its model; the last one has no calls.
    pub replies: Vec<Script>,
    /// The HTTP error that replaces the last reply.
    pub refused: Option<u16>,
}

impl PlannedSubAgent {
    /// The HTTP error that replaces a reply, if there is one.
    pub fn refusal_of(&self, reply: usize) -> Option<u16> {
        self.refused.filter(|_| self.is_last(reply))
    }

    /// True if no reply follows this one.
    pub fn is_last(&self, reply: usize) -> bool {
        reply + 1 == self.replies.len()
    }

    /// The text of the last reply.
    pub fn last_words(&self) -> String {
        self.replies.last().map(Script::text).unwrap_or_default()
    }
}

impl Plan {
    /// The sub-agent that a call starts.
    pub fn sub_agent(&self, call: CallKey) -> Option<&PlannedSubAgent> {
        self.sub_agents.iter().find(|agent| agent.call == call)
    }

    /// The sub-agent whose conversation a request continues, and the number of the next reply. The sub-agent
    /// is recognised by the marker in its prompt, whatever text a system puts around it. The next reply is
    /// the first one whose calls are missing from the conversation, so a request may be repeated.
    pub fn sub_agent_of(&self, conversation: &History) -> Option<(&PlannedSubAgent, usize)> {
        if self.sub_agents.is_empty() {
            return None;
        }
        let before_replies = conversation.items.iter().take_while(|item| item.role != Role::Assistant);
        let asked = before_replies.filter_map(|item| match &item.content {
            Content::Text { text } if item.role == Role::User => Some(text.as_str()),
            _ => None,
        });
        let asked: Vec<&str> = asked.collect();
        let is_its = |agent: &&PlannedSubAgent| {
            let marker = self.calls[agent.call.0 as usize].marker.as_str();
            asked.iter().any(|text| text.contains(marker))
        };
        let agent = self.sub_agents.iter().find(is_its)?;
        let is_made = |key: CallKey| {
            let marker = self.calls[key.0 as usize].marker.as_str();
            conversation.items.iter().any(
                |item| matches!(&item.content, Content::Call { args, .. } if marker_in(args) == Some(marker)),
            )
        };
        let is_next = |script: &Script| !script.has_calls() || !script.calls().all(is_made);
        let reply = agent.replies.iter().position(is_next).unwrap_or(agent.replies.len());
        Some((agent, reply))
    }
}

/// The JSON Schema for the arguments of a sub-agent tool.
pub(super) fn input_schema() -> Value {
    json!({
        "type": "object",
        "properties": { PROMPT: { "type": "string" } },
        "required": [PROMPT],
        "additionalProperties": false,
    })
}

/// The arguments of a call that starts a sub-agent: the prompt, and the marker of the call.
pub(crate) fn arguments(asked: &str, marker: &str) -> Value {
    json!({ PROMPT: format!("{asked} [{marker}]") })
}

/// The marker in arguments: a separate argument, or the last word in a sub-agent's prompt.
pub fn marker_in(args: &Value) -> Option<&str> {
    match args.get(MARKER) {
        Some(marker) => marker.as_str(),
        None => args
            .get(PROMPT)?
            .as_str()?
            .trim_end()
            .strip_suffix(']')?
            .rsplit_once('[')
            .map(|(_, marker)| marker),
    }
}
