//! The tools in a plan and their endings.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::sub_agent;
use brickbat_rules::json::without_halves;

use crate::surrogate;

/// A tool as it is declared to the system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannedTool {
    /// The name of the tool.
    pub name: String,
    /// The names and types of its arguments, except for the marker. Each type is string, number or boolean,
    /// as in the first use.
    pub params: Vec<(String, &'static str)>,
    /// True if the system's tool must not pass the stop on to the gate.
    pub deaf: bool,
    /// True if the user is asked before it runs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub asks: bool,
    /// True if the turn ends with its result.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ends: bool,
    /// True if it hands the conversation over to another agent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hands_over: bool,
    /// True if it is a sub-agent, which may call all tools that are not sub-agents.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub agent: bool,
    /// True if it runs in the client.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub client: bool,
}

impl PlannedTool {
    /// Creates a tool that settles in the turn that calls it, without a question to the user.
    pub fn new(name: impl Into<String>, params: Vec<(String, &'static str)>) -> PlannedTool {
        PlannedTool {
            name: name.into(),
            params,
            deaf: false,
            asks: false,
            ends: false,
            hands_over: false,
            agent: false,
            client: false,
        }
    }

    /// The JSON Schema of the arguments, including the marker.
    pub fn input_schema(&self) -> Value {
        if self.agent {
            return sub_agent::input_schema();
        }
        let params = self.params.iter().map(|(name, kind)| (name.clone(), json!({ "type": kind })));
        let marker = (MARKER.to_owned(), json!({ "type": "string" }));
        let properties: Map<String, Value> = params.chain(std::iter::once(marker)).collect();
        // A call may leave arguments out; only the marker is in every call of the tool.
        json!({ "type": "object", "properties": properties, "required": [MARKER], "additionalProperties": false })
    }
}

/// The name of the argument that identifies a call when the system hides the call's id from the tool.
pub const MARKER: &str = "ref";

/// How a tool ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "text")]
pub enum ToolOutcome {
    /// It returns a text.
    Return(String),
    /// It returns an error result.
    Error(String),
    /// It throws an error.
    Throw(String),
    /// The user refuses the call.
    Deny(String),
}

impl ToolOutcome {
    /// The text of the outcome.
    pub fn text(&self) -> &str {
        match self {
            ToolOutcome::Return(text)
            | ToolOutcome::Error(text)
            | ToolOutcome::Throw(text)
            | ToolOutcome::Deny(text) => text,
        }
    }

    /// The body of the gate's answer, as JSON.
    pub fn gate_answer(&self) -> String {
        surrogate::halved(&serde_json::to_string(self).expect("a tagged text is always JSON"))
    }

    /// Reads the body of a gate's answer.
    pub fn of_gate(answer: &[u8]) -> Result<ToolOutcome, serde_json::Error> {
        serde_json::from_slice(answer)
            .or_else(|_| serde_json::from_slice(&without_halves(String::from_utf8_lossy(answer).as_bytes())))
    }

    /// True if the tool did what it was called for.
    pub fn is_success(&self) -> bool {
        matches!(self, ToolOutcome::Return(_))
    }
}
