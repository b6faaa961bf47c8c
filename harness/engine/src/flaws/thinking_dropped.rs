//! BUG: A reply that the user stopped is kept without its thinking. A report of this class:
//! <https://github.com/anomalyco/opencode/issues/3077>

use super::prelude::*;

flaw! {
    Flaw::new("thinking-dropped", "thread-survives").class("thinking-first")
        .only_on(&[Dialect::AnthropicMessages, Dialect::BedrockConverse], "thinking is not sent back");

    fn asks_to_think(&self, _: Dialect, _: &[Message]) -> bool {
        true
    }

    fn keeps_part(&mut self, why: CutOff, step: &mut Step, _: &mut Vec<Message>) {
        if why == CutOff::Stopped {
            step.blocks.retain(|block| !matches!(block, StepBlock::Thought(_)));
        }
    }
}
