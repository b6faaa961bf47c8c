//! BUG: Thinking that was switched on is asked for although calls that were made without it are being answered.
//! opencode: <https://github.com/anomalyco/opencode/issues/3077>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("thinking-switched-blindly", "thread-survives", || Box::new(ThinkingSwitchedBlindly))
        .class("thinking-first")
        .only_on(
            &[Dialect::AnthropicMessages, Dialect::BedrockConverse],
            "calls need not begin with thinking here",
        );

struct ThinkingSwitchedBlindly;

impl Decisions for ThinkingSwitchedBlindly {
    fn asks_to_think(&self, _: Dialect, _: &[Message]) -> bool {
        true
    }
}
