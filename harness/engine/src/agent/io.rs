//! What happens to an agent, and what it wants done: its whole interface, without I/O.
#![expect(missing_docs, reason = "the fields of these variants are named for what they hold")]

use super::sub_agent::SHARE;
use brickbat_scenario::plan::{Change, ToolOutcome};
use brickbat_scenario::scenario::InterruptCause;
use brickbat_scenario::trace::{Aside, Consent, ShownState, TurnOutcome};

/// What happens to an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input<'a> {
    /// The user says something. Refused while a turn runs.
    Prompt(&'a str),
    /// The user says something to the running turn.
    Steer(&'a str),
    /// A hook adds context for the model.
    Inject(&'a str),
    /// The user stops the turn.
    Stop,
    /// An exception leaves the loop.
    Interrupt(InterruptCause),
    /// The history is to be changed.
    Change(&'a Change),
    /// The status of an answer, and after how long the provider wants to be asked again, if it says so.
    Head { request: RequestId, status: u16, pause_ms: Option<u64> },
    /// A piece of an answer's body, in any split.
    Body { request: RequestId, bytes: &'a [u8] },
    /// An answer's body is over.
    End { request: RequestId, how: BodyEnd },
    /// The user answered the question whether a tool may run.
    Answered { run: RunId, consent: Consent },
    /// A tool ended.
    ToolDone { run: RunId, outcome: ToolOutcome },
    /// A timer has run out.
    Elapsed { timer: TimerId },
}

impl Input<'_> {
    /// What is said to a running turn, by whoever says it.
    pub fn said(way: Aside, text: &str) -> Input<'_> {
        match way {
            Aside::Steered => Input::Steer(text),
            Aside::Prompted => Input::Prompt(text),
            Aside::Injected => Input::Inject(text),
        }
    }
}

/// How a body ended, as HTTP sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyEnd {
    /// As its framing says.
    Complete,
    /// The connection broke.
    Broken,
}

/// What an agent wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Post this body to the provider.
    Request { request: RequestId, body: Vec<u8> },
    /// Close the connection of a request.
    HangUp { request: RequestId },
    /// Ask the user whether the tool of the call with that wire id may run. The run will have that number.
    Ask { run: RunId, id: String },
    /// Run a tool with these arguments, which are JSON.
    StartTool { run: RunId, tool: String, args: String },
    /// Tell a running tool to stop.
    CancelTool { run: RunId },
    /// Show the state of the call with that wire id to the user.
    Show { id: String, state: ShownState },
    /// Tell the user that a second prompt is not taken while a turn runs.
    PromptRefused,
    /// Report when so much time has passed. In the simulation time is virtual and costs nothing.
    Wait { timer: TimerId, ms: u64 },
    /// The history is changed, or will be once the results of the running step have come.
    Changed(Change),
    /// The turn is over.
    Ended(TurnOutcome),
}

/// Number of one request of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u32);

impl RequestId {
    /// Whether the same agent has sent both, or the same of its sub-agents.
    pub fn is_of_same_agent(self, other: RequestId) -> bool {
        self.0 / SHARE == other.0 / SHARE
    }
}

/// Number of one tool run of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub u32);

/// Number of one timer of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimerId(pub u32);
