//! BUG: Thinking is changed if the reply is incomplete. Claude Code:
//! <https://github.com/anthropics/claude-code/issues/63277>

use super::prelude::*;

flaw! {
    Flaw::new("thinking-altered", "thread-survives").class("thinking-modified")
        .only_on(&[Dialect::AnthropicMessages, Dialect::BedrockConverse], "thinking is not sent back");

    fn keeps_part(&mut self, why: CutOff, step: &mut Step, _: &mut Vec<Message>) {
        if matches!(why, CutOff::Stopped | CutOff::Broken) {
            step.thoughts_mut().for_each(|thought| thought.text.push_str(" [interrupted]"));
        }
    }
}
