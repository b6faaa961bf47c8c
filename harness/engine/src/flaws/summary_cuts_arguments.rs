//! BUG: After a summary, long arguments are truncated and are no longer JSON. Hermes Agent:
//! <https://github.com/NousResearch/hermes-agent/issues/10631>

use super::prelude::*;

/// The number of argument characters that are left.
const SHORT: usize = 200;

flaw! {
    Flaw::new("summary-cuts-arguments", "arguments-whole").class("compact-args")
        .not_on(
            &[Dialect::AnthropicMessages, Dialect::Gemini, Dialect::BedrockConverse],
            "arguments are not text that could be cut",
        );

    fn summarised(&self, thread: &[Message], summary: Summary<'_>) -> Vec<Message> {
        let mut thread = Reference.summarised(thread, summary);
        for message in &mut thread {
            let Message::Assistant(blocks) = message else { continue };
            for block in blocks {
                if let Block::Call(Call { args, .. }) = block
                    && args.len() > SHORT
                {
                    *args = args.chars().take(SHORT).chain("...[truncated]".chars()).collect();
                }
            }
        }
        thread
    }
}
