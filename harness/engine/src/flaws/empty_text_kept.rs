//! BUG: A text block that was opened but never filled is kept. opencode:
//! <https://github.com/anomalyco/opencode/issues/16220>

use super::prelude::*;

flaw! {
    Flaw::new("empty-text-kept", "thread-survives").class("empty-text")
        .only_on(
            &[Dialect::AnthropicMessages, Dialect::BedrockConverse],
            "an empty text is dropped or accepted",
        );

    fn keeps_blank_text(&self) -> bool {
        true
    }
}
