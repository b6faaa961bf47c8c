//! BUG: An image that is too large for the provider is sent in every request. A report of this class:
//! <https://github.com/anthropics/claude-code/issues/34025>

use super::prelude::*;

flaw! {
    Flaw::new("picture-kept", "old-thread-heals").class("image-poison")
        .only_on(&[Dialect::AnthropicMessages], "our client sends no images there");

    fn sends_picture(&self, _: Option<usize>) -> bool {
        true
    }
}
