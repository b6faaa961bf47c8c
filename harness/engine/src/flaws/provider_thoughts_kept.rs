//! BUG: When a thread continues with another provider, that provider gets the thinking of the earlier one,
//! with its signature. forgecode: <https://github.com/tailcallhq/forgecode/issues/2646>

use super::prelude::*;

flaw! {
    Flaw::new("provider-thoughts-kept", "thread-survives").class("thinking-foreign")
        .not_on(
            &[Dialect::OpenaiChat, Dialect::Mistral],
            "a thread that begins here has no thoughts to carry over",
        );

    fn keeps_foreign_thoughts(&self) -> bool {
        true
    }
}
