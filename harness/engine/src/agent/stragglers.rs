//! Tools that were given up, and answer all the same.

use super::canary::Canary;
use super::step::{CallState, Step};
use super::thread::{CallResult, Message};
use super::{Agent, Output, RunId, Straggler};
use brickbat_scenario::plan::ToolOutcome;
use brickbat_scenario::trace::ShownState;

impl Agent {
    /// Gives up the tools that run. They are remembered: a tool that does not hear it answers late.
    pub(super) fn let_go(&mut self, step: &Step, outputs: &mut Vec<Output>) {
        for call in step.calls() {
            let CallState::Running(run) = call.state else { continue };
            outputs.push(Output::CancelTool { run });
            outputs.push(Output::Show { id: call.call.id.clone(), state: ShownState::Failed });
            self.stragglers.push(Straggler { run, call_id: call.call.id.clone() });
        }
    }

    /// A tool that was given up answers. Its call has its answer already, so the result is not recorded.
    pub(super) fn straggler_done(&mut self, run: RunId, outcome: &ToolOutcome) {
        let Some(at) = self.stragglers.iter().position(|straggler| straggler.run == run) else { return };
        let Straggler { call_id, .. } = self.stragglers.remove(at);
        if self.is(Canary::LateResultRevived) && matches!(self.thread.last(), Some(Message::User(_))) {
            let call_id = call_id.clone();
            let result = CallResult { call_id, text: outcome.text().to_owned(), is_error: false };
            self.thread.push(Message::Results(vec![result]));
        }
        if self.is(Canary::LateResultTwice) {
            let result =
                CallResult { call_id, text: outcome.text().to_owned(), is_error: !outcome.is_success() };
            let answered = self.thread.iter().rposition(|message| match message {
                Message::Results(results) => results.iter().any(|earlier| earlier.call_id == result.call_id),
                _ => false,
            });
            if let Some(Message::Results(results)) = answered.and_then(|at| self.thread.get_mut(at)) {
                results.push(result);
            }
        }
    }
}
