//! BUG: A call is stored only with its result, so a process that dies forgets the calls that were running.
//! OpenHands loses the whole step: <https://github.com/OpenHands/software-agent-sdk/issues/4487>

use super::prelude::*;

flaw! {
    Flaw::new("running-calls-unsaved", "calls-remembered").class("kill-resume");

    fn save_running(&self, step: &Step, _: Progress, thread: &mut Vec<Message>) {
        let is_done = |block: &&StepBlock| match block {
            StepBlock::Call(call) => matches!(call.state, CallState::Done(_)),
            StepBlock::Thought(_) | StepBlock::Text(_) | StepBlock::Server(_) => true,
        };
        thread.extend(saved(message_of(step.blocks.iter().filter(is_done), false), step.results()));
    }
}
