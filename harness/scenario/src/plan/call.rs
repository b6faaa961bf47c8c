//! A call of the model in a plan.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CallKey, Malformation, ToolOutcome};

/// One call by the model.
#[expect(missing_docs, reason = "the names are self-explanatory")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedCall {
    /// The scenario's name for it, such as `a`.
    pub name: String,
    pub id: String,
    /// The tool, under the name that the model uses.
    pub tool: String,
    /// The complete arguments as the model sends them, including the marker.
    pub args: Value,
    /// The arguments as text, cut into deltas.
    pub deltas: Vec<String>,
    /// The marker in the arguments, unique within the plan.
    pub marker: String,
    /// How the tool ends.
    pub outcome: ToolOutcome,
    /// True if the tool ignores the user's stop.
    pub deaf: bool,
    /// True if the user is asked before the tool runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks: bool,
    /// The malformation of the call, if it has one.
    #[serde(rename = "slip", default, skip_serializing_if = "Option::is_none")]
    pub malformation: Option<Box<Malformation>>,
    /// True if the tool does not settle during its turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hangs: bool,
    /// True if its tool hands the conversation over to another agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hands_over: bool,
    pub turn: usize,
    /// The 0-based index of the reply in the turn.
    pub reply: usize,
    /// The 0-based index of the attempt at the reply.
    pub attempt: usize,
    /// True if the call is in the given history: then its tool never runs, `turn` has no meaning, and `reply`
    /// is the index of its message.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub given: bool,
    /// The call that started the sub-agent making this call; turn, reply and attempt then refer to that call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<CallKey>,
}

impl PlannedCall {
    /// Creates a call of the first reply, with the arguments in one delta and without a marker.
    pub fn new(
        name: impl Into<String>,
        id: impl Into<String>,
        tool: impl Into<String>,
        args: Value,
    ) -> PlannedCall {
        PlannedCall {
            name: name.into(),
            id: id.into(),
            tool: tool.into(),
            deltas: vec![args.to_string()],
            args,
            marker: String::new(),
            outcome: ToolOutcome::Return(String::new()),
            deaf: false,
            asks: false,
            malformation: None,
            hangs: false,
            hands_over: false,
            turn: 0,
            reply: 0,
            attempt: 0,
            given: false,
            within: None,
        }
    }

    /// True if the user is asked and refuses, so that the tool never runs.
    pub fn is_refused(&self) -> bool {
        self.asks && matches!(self.outcome, ToolOutcome::Deny(_))
    }

    /// True if no system can run it: the tool is unknown, or the arguments do not fit the tool.
    pub fn is_invalid(&self) -> bool {
        self.is_malformed(|it| it.tool || it.args)
    }

    /// True if its tool never runs in a correct system.
    pub fn never_runs(&self) -> bool {
        self.is_refused() || self.is_invalid()
    }

    /// The id on the wire, if the call has one there.
    pub fn sent_id(&self) -> Option<&str> {
        (!self.is_malformed(|it| it.no_id)).then_some(self.id.as_str())
    }

    /// True if the call is malformed, and `of_it` holds for its malformation.
    pub fn is_malformed(&self, of_it: impl Fn(&Malformation) -> bool) -> bool {
        self.malformation.as_ref().is_some_and(|malformation| of_it(malformation))
    }
}
