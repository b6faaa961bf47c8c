//! Calls that hand the conversation over to another agent.
//!
//! A handoff runs like any other tool, alongside the other calls in its batch. Control moves when all of them
//! have their results. There is only one conversation, so the request for the other agent has the same
//! thread. If a batch has several handoffs, the first one is taken, and the results of the others report
//! that.

use super::step::{CallState, Step, StepCall};
use super::{Agent, Tool};

impl Agent {
    /// The call with which a step hands over, and the name of the other agent: the first handoff that has not
    /// failed.
    pub(super) fn handoff<'a>(&'a self, step: &'a Step) -> Option<(&'a StepCall, &'a str)> {
        let mut handoffs = step.calls().filter(|call| !has_failed(call));
        handoffs.find_map(|call| Some((call, other_agent(call, &self.setup.tools)?)))
    }

    /// The result text of a handoff, and whether it is the handoff taken. `None` for a call of another tool.
    pub(super) fn words_of_handoff(&self, step: &Step, id: &str) -> Option<(String, bool)> {
        let (first, agent) = self.handoff(step)?;
        step.calls().find(|call| call.call.id == id && is_handoff(call, &self.setup.tools))?;
        let is_taken = first.call.id == id;
        let words = if is_taken {
            format!("Handed over to {agent}.")
        } else {
            format!("Not handed over: the conversation goes on with {agent}.")
        };
        Some((words, is_taken))
    }
}

/// True if the tool of a call is a handoff.
pub(crate) fn is_handoff(call: &StepCall, tools: &[Tool]) -> bool {
    other_agent(call, tools).is_some()
}

fn other_agent<'a>(call: &StepCall, tools: &'a [Tool]) -> Option<&'a str> {
    tools.iter().find(|tool| tool.name == call.call.tool)?.hands_over.as_deref()
}

fn has_failed(call: &StepCall) -> bool {
    match &call.state {
        CallState::Done(result) => result.is_error,
        CallState::Forgotten => true,
        CallState::Open | CallState::Asked(_) | CallState::Running(_) => false,
    }
}
