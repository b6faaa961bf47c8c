//! BUG: An image that is too large for the provider is sent in every request. A report of this class:
//! <https://github.com/anthropics/claude-code/issues/34025>

use super::prelude::*;

pub static FLAW: Flaw = Flaw::new("picture-kept", "old-thread-heals", || Box::new(PictureKept))
    .class("image-poison")
    .only_on(&[Dialect::AnthropicMessages], "our client sends no images there");

struct PictureKept;

impl Decisions for PictureKept {
    fn sends_picture(&self, _: Option<usize>) -> bool {
        true
    }
}
