//! BUG: Calls are saved in the order in which their results arrived. A report of this class:
//! <https://github.com/google-gemini/gemini-cli/issues/26956>

use super::prelude::*;

flaw! {
    Flaw::new("calls-reordered", "order-kept").class("out-of-order");

    fn keeps_part(&mut self, why: CutOff, step: &mut Step, _: &mut Vec<Message>) {
        if why == CutOff::Stopped {
            step.blocks.sort_by_key(|block| match block {
                StepBlock::Thought(_) | StepBlock::Text(_) | StepBlock::Server(_) => 0,
                StepBlock::Call(call) if matches!(call.state, CallState::Done(_)) => 1,
                StepBlock::Call(_) => 2,
            });
        }
    }
}
