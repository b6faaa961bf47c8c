//! BUG: After thinking was switched on, requests ask for it even while calls made without it are being
//! answered. opencode: <https://github.com/anomalyco/opencode/issues/3077>

use super::prelude::*;

flaw! {
    Flaw::new("thinking-switched-blindly", "thread-survives").class("thinking-first")
        .only_on(
            &[Dialect::AnthropicMessages, Dialect::BedrockConverse],
            "calls need not begin with thinking here",
        );

    fn asks_to_think(&self, _: Dialect, _: &[Message]) -> bool {
        true
    }
}
