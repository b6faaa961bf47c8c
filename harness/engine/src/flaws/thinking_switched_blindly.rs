//! BUG: After thinking was switched on, requests ask for it even while calls made without it are being
//! answered. opencode: <https://github.com/anomalyco/opencode/issues/3077>

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
