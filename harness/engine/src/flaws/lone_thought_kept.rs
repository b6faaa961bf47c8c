//! BUG: A reply that was stopped right after the thinking is kept as a message that contains only thinking.
//! opencode: <https://github.com/anomalyco/opencode/issues/2827>

use super::prelude::*;

flaw! {
    Flaw::new("lone-thought-kept", "thread-survives").class("reasoning-orphan")
        .only_on(
            &[Dialect::AnthropicMessages, Dialect::OpenaiResponses],
            "thinking may be separated from its output here",
        );

    fn keeps_part(&mut self, why: CutOff, step: &mut Step, thread: &mut Vec<Message>) {
        if why != CutOff::Stopped || !step.message().is_empty() {
            return;
        }
        let thoughts = step.blocks.iter().filter(|block| matches!(block, StepBlock::Thought(_)));
        let thoughts: Vec<Block> = thoughts.filter_map(|block| block.kept(false)).collect();
        if !thoughts.is_empty() {
            thread.push(Message::Assistant(thoughts));
        }
    }
}
