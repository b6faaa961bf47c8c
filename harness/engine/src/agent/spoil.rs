//! What canaries do to a batch that comes to its end: its messages, and the order in which its results came.

use super::canary::Canary;
use super::step::{CallState, Step, StepBlock};
use super::thread::Message;
use super::{Agent, Output, Straggler};
use brickbat_scenario::plan::ToolOutcome;
use brickbat_scenario::trace::ShownState;

/// Calls of a batch in which canaries mistake the order of the results.
pub(super) const LARGE_BATCH: usize = 3;

impl Agent {
    /// A call of the step has just been answered.
    pub(super) fn spoil_answered(
        &mut self,
        step: &mut Step,
        id: &str,
        outcome: &ToolOutcome,
        outputs: &mut Vec<Output>,
    ) {
        let is_last = step.calls().last().is_some_and(|call| call.call.id == id);
        step.is_last_first |= is_last && step.results().len() == 1 && step.calls().count() >= LARGE_BATCH;
        let is_over = matches!(step.phase, super::step::Phase::Over);
        step.is_error_early |= !is_over && !outcome.is_success();
        if self.is(Canary::SiblingsCancelled) && is_over && matches!(outcome, ToolOutcome::Error(_)) {
            for call in step.calls_mut() {
                let CallState::Running(run) = call.state else { continue };
                call.state = CallState::Forgotten;
                outputs.push(Output::CancelTool { run });
                outputs.push(Output::Show { id: call.call.id.clone(), state: ShownState::Failed });
                self.stragglers.push(Straggler { run, call_id: call.call.id.clone() });
            }
        }
    }

    /// What canaries do to the thinking of a reply that did not come to its end.
    pub(super) fn spoil_thoughts(&self, step: &mut Step) {
        if self.is(Canary::ThinkingDropped) {
            step.blocks.retain(|block| !matches!(block, StepBlock::Thought(_)));
        }
        for thought in step.thoughts_mut() {
            if self.is(Canary::ThinkingAltered) {
                thought.text.push_str(" [interrupted]");
            }
        }
        let cut_off = step.thoughts_mut().find(|thought| thought.signature.is_none());
        if let Some(thought) = cut_off.filter(|_| self.is(Canary::ThinkingUnsigned)) {
            thought.signature = Some(String::new());
            step.blocks.push(StepBlock::Text("(stopped)".to_owned()));
        }
    }

    /// Saves a reply whose tools have all answered.
    pub(super) fn push_step(&mut self, step: &mut Step) {
        if self.is(Canary::RetryContinuesMessage) {
            continue_message(step);
        }
        let (mut message, mut results) = (step.message(), step.results());
        if self.is(Canary::TextSplitsReply) {
            step.messages().into_iter().for_each(|message| self.push_message(message));
            return self.push_results(results);
        }
        if !step.is_last_first {
            if self.is(Canary::ErrorTwice) && step.is_error_early {
                let errors: Vec<_> = results.iter().filter(|result| result.is_error).cloned().collect();
                results.extend(errors);
            }
            self.push_message(message);
            return self.push_results(results);
        }
        if self.is(Canary::OrderOfArrival) {
            let last = message.pop();
            let first_call = message.iter().position(|block| block.call().is_some()).unwrap_or(message.len());
            message.splice(first_call..first_call, last);
        }
        if self.is(Canary::LastResultApart) {
            let last = results.split_off(results.len() - 1);
            self.push_message(message);
            self.thread.push(Message::Results(last));
            return self.push_results(results);
        }
        if self.is(Canary::BatchSplit) {
            let (last_call, last) =
                (message.split_off(message.len() - 1), results.split_off(results.len() - 1));
            self.push_message(message);
            self.push_results(results);
            self.push_message(last_call);
            return self.push_results(last);
        }
        self.push_message(message);
        self.push_results(results);
    }
}

/// Puts what a failed attempt had said before what the new one says, unless both begin with the same words.
fn continue_message(step: &mut Step) {
    let words = |blocks: &[StepBlock]| {
        let text = blocks.iter().find_map(|block| match block {
            StepBlock::Text(text) => Some(text.clone()),
            _ => None,
        });
        text.unwrap_or_default()
    };
    let mut kept = std::mem::take(&mut step.failed_attempt);
    if !kept.is_empty() && words(&kept) != words(&step.blocks) {
        kept.append(&mut step.blocks);
        step.blocks = kept;
    }
}

/// Puts calls that are answered before those that are not.
pub(super) fn answered_first(step: &mut Step) {
    step.blocks.sort_by_key(|block| match block {
        StepBlock::Thought(_) | StepBlock::Text(_) => 0,
        StepBlock::Call(call) if matches!(call.state, CallState::Done(_)) => 1,
        StepBlock::Call(_) => 2,
    });
}
