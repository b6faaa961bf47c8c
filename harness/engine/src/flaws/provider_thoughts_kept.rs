//! BUG: When a thread continues with another provider, that provider gets the thinking of the earlier one,
//! with its signature. forgecode: <https://github.com/tailcallhq/forgecode/issues/2646>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("provider-thoughts-kept", "thread-survives", || Box::new(ProviderThoughtsKept))
        .class("thinking-foreign")
        .not_on(
            &[Dialect::OpenaiChat, Dialect::Mistral],
            "a thread that begins here has no thoughts to carry over",
        );

struct ProviderThoughtsKept;

impl Decisions for ProviderThoughtsKept {
    fn keeps_foreign_thoughts(&self) -> bool {
        true
    }
}
