//! BUG: A resume reads the stored thread without its thinking. A report of this class:
//! <https://github.com/anomalyco/opencode/issues/3077>

use super::prelude::*;

flaw! {
    Flaw::new("thinking-forgotten", "thread-survives").class("thinking-first")
        .only_on(
            &[Dialect::AnthropicMessages, Dialect::BedrockConverse],
            "thinking may be separated from its output here",
        );

    fn asks_to_think(&self, _: Dialect, _: &[Message]) -> bool {
        true
    }

    fn loaded(&self, thread: Vec<Message>) -> Vec<Message> {
        let mut thread = repaired(thread);
        for message in &mut thread {
            if let Message::Assistant(blocks) = message {
                blocks.retain(|block| !matches!(block, Block::Thought(_)));
            }
        }
        thread
    }
}
