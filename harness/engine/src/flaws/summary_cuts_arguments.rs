//! BUG: After a summary, long arguments are truncated and are no longer JSON. Hermes Agent:
//! <https://github.com/NousResearch/hermes-agent/issues/10631>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("summary-cuts-arguments", "arguments-whole", || Box::new(SummaryCutsArguments))
        .class("compact-args")
        .not_on(
            &[Dialect::AnthropicMessages, Dialect::Gemini, Dialect::BedrockConverse],
            "arguments are not text that could be cut",
        );

/// The number of argument characters that are left.
const SHORT: usize = 200;

struct SummaryCutsArguments;

impl Decisions for SummaryCutsArguments {
    fn summarised(
        &self,
        thread: &[Message],
        keep: usize,
        summary: &str,
        is_turn_running: bool,
    ) -> Vec<Message> {
        let mut thread = Reference.summarised(thread, keep, summary, is_turn_running);
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
