//! The complete interface of an agent without I/O: its inputs and its outputs.
#![expect(missing_docs, reason = "the fields of these variants are named for what they hold")]

use super::Tool;
use brickbat_scenario::plan::{Change, ToolOutcome};
use brickbat_scenario::scenario::InterruptCause;
use brickbat_scenario::trace::{Aside, Consent, ShownState, TurnOutcome};

/// An event that the agent takes in.
#[derive(Debug, Clone, PartialEq)]
pub enum Input<'a> {
    /// The user's message. Rejected while a turn runs.
    Prompt(&'a str),
    /// A message of the user to the running turn.
    Steer(&'a str),
    /// A hook adds context for the model.
    Inject(&'a str),
    /// The user stops the turn.
    Stop,
    /// An exception leaves the loop.
    Interrupt(InterruptCause),
    /// The last write of the store has failed with an error.
    WriteFailed,
    /// The history is to be changed.
    Change(&'a Change),
    /// These are the system's tools from the next request on.
    Tools(&'a [Tool]),
    /// The status of an answer. `pause_ms` is how long the provider wants the client to wait, if specified.
    Head { request: RequestId, status: u16, pause_ms: Option<u64> },
    /// A piece of an answer's body, split anywhere.
    Body { request: RequestId, bytes: &'a [u8] },
    /// The end of an answer's body.
    End { request: RequestId, how: BodyEnd },
    /// The user's answer to the question whether a tool may run.
    Answered { run: RunId, consent: Consent },
    /// A tool ended.
    ToolDone { run: RunId, outcome: ToolOutcome },
    /// A timer has run out.
    Elapsed { timer: TimerId },
}

impl Input<'_> {
    /// The input for a message to a running turn, from the user or a hook.
    pub fn said(way: Aside, text: &str) -> Input<'_> {
        match way {
            Aside::Steered => Input::Steer(text),
            Aside::Prompted => Input::Prompt(text),
            Aside::Injected => Input::Inject(text),
        }
    }
}

/// The end of a body, as HTTP sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyEnd {
    /// The body is complete according to its framing.
    Complete,
    /// The connection broke.
    Broken,
}

/// Something that the agent wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Post this body to the provider.
    Request { request: RequestId, body: Vec<u8> },
    /// Close the connection of a request.
    HangUp { request: RequestId },
    /// Ask the user whether the tool of the call with this wire id may run. The tool run will have the number
    /// `run`.
    Ask { run: RunId, id: String },
    /// Run a tool with these arguments, which are JSON.
    StartTool { run: RunId, tool: String, args: String },
    /// Tell a running tool to stop.
    CancelTool { run: RunId },
    /// Show the state of the call with this wire id to the user.
    Show { id: String, state: ShownState },
    /// Tell the user that a second prompt is rejected while a turn runs.
    PromptRefused,
    /// Report when this time has passed. In the simulation time is virtual and costs nothing.
    Wait { timer: TimerId, ms: u64 },
    /// The history is changed, or will be once the results of the running step have arrived.
    Changed(Change),
    /// The turn has ended.
    Ended(TurnOutcome),
}

/// Identifies one of an agent's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u32);

impl RequestId {
    /// True if the same agent, or the same sub-agent, has sent both requests.
    pub fn is_of_same_agent(self, other: RequestId) -> bool {
        self.0 / SHARE == other.0 / SHARE
    }
}

/// The count of numbers for requests, runs and timers that an agent and each of its sub-agents have. One turn
/// has at most 64 requests.
pub(super) const SHARE: u32 = 1 << 16;

/// Identifies one of an agent's tool runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub u32);

/// Identifies one of an agent's timers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimerId(pub u32);
