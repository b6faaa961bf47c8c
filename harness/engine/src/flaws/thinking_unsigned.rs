//! BUG: Thinking that was cut off before its signature is kept with an empty one. Claude Code:
//! <https://github.com/anthropics/claude-code/issues/63943>

use super::prelude::*;

flaw! {
    Flaw::new("thinking-unsigned", "thread-survives").class("thinking-unsigned")
        .only_on(&[Dialect::AnthropicMessages, Dialect::BedrockConverse], "thinking is not sent back");

    fn keeps_part(&mut self, why: CutOff, step: &mut Step, _: &mut Vec<Message>) {
        if !matches!(why, CutOff::Stopped | CutOff::Broken) {
            return;
        }
        let unsigned = step.thoughts_mut().find(|thought| thought.signature.is_none());
        if let Some(thought) = unsigned {
            thought.signature = Some(String::new());
            step.blocks.push(StepBlock::Text("(stopped)".to_owned()));
        }
    }
}
