//! The state of an agent besides the running turn: its thread, the tools that were given up and may answer
//! late, and its outputs.

use super::Output;
use super::io::{RequestId, RunId, TimerId};
use super::step::{CallState, Step, StepCall};
use super::thread::Message;
use brickbat_scenario::trace::{ShownState, TurnOutcome};

#[derive(Debug, Default)]
pub(crate) struct Session {
    pub(crate) thread: Vec<Message>,
    pub(crate) late: Vec<LateRun>,
    pub(crate) counter: Counter,
    /// The provider's count of tokens for the last request.
    pub(crate) tokens: u64,
    /// The outputs of the current input.
    pub(crate) outputs: Vec<Output>,
}

/// A tool run that was given up.
#[derive(Debug, Clone)]
pub(crate) struct LateRun {
    pub(crate) run: RunId,
    pub(crate) call_id: String,
}

impl Session {
    /// Gives up the running tools. They are remembered, because a tool that does not react answers late.
    pub(crate) fn let_go(&mut self, step: &Step) {
        for call in step.calls() {
            let CallState::Running(run) = call.state else { continue };
            self.outputs.push(Output::CancelTool { run });
            self.show(&call.call.id, ShownState::Failed);
            self.late.push(LateRun { run, call_id: call.call.id.clone() });
        }
    }

    /// Shows the state of a call to the user.
    pub(crate) fn show(&mut self, id: &str, state: ShownState) {
        self.outputs.push(Output::Show { id: id.to_owned(), state });
    }

    /// Starts the tool of a call.
    pub(crate) fn start(&mut self, call: &mut StepCall, run: RunId) {
        call.state = CallState::Running(run);
        self.show(&call.call.id, ShownState::InProgress);
        let (tool, args) = (call.call.tool.clone(), call.call.args.clone());
        self.outputs.push(Output::StartTool { run, tool, args });
    }

    /// Ends the turn.
    pub(crate) fn end(&mut self, outcome: TurnOutcome) {
        self.outputs.push(Output::Ended(outcome));
    }

    /// The call of a tool that was given up and now answers.
    pub(crate) fn take_late(&mut self, run: RunId) -> Option<String> {
        let at = self.late.iter().position(|late| late.run == run)?;
        Some(self.late.remove(at).call_id)
    }
}

/// Counters for the agent's numbers.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    n_requests: u32,
    n_runs: u32,
    n_ids: u32,
    n_timers: u32,
}

impl Counter {
    /// A counter that gives out no number below `first`.
    pub(crate) fn from(first: u32) -> Counter {
        Counter { n_requests: first, n_runs: first, n_ids: 0, n_timers: first }
    }

    pub(crate) fn request(&mut self) -> RequestId {
        self.n_requests += 1;
        RequestId(self.n_requests - 1)
    }

    /// The number for an id that the agent itself gives to a call.
    pub(crate) fn id(&mut self) -> u32 {
        self.n_ids += 1;
        self.n_ids
    }

    pub(crate) fn run(&mut self) -> RunId {
        self.n_runs += 1;
        RunId(self.n_runs - 1)
    }

    pub(crate) fn timer(&mut self) -> TimerId {
        self.n_timers += 1;
        TimerId(self.n_timers - 1)
    }
}
