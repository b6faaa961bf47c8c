//! BUG: After a message to the running turn, the reply is rebuilt with the thinking after the calls. Claude
//! Code: <https://github.com/anthropics/claude-code/issues/63898>

use super::prelude::*;

flaw! {
    Flaw::new("thinking-moved", "thread-survives").class("thinking-modified")
        .only_on(
            &[Dialect::AnthropicMessages, Dialect::OpenaiResponses],
            "thinking may follow its output, or is not sent back",
        );

    fn record(&mut self, step: &Step, said: &mut Said, _: Option<&Change>) -> Vec<Message> {
        let mut message = step.message();
        if !said.is_empty() {
            message.sort_by_key(|block| matches!(block, Block::Thought(_)));
        }
        saved(message, step.results())
    }
}
