//! BUG: A call without an id is kept with an empty one. opencode:
//! <https://github.com/anomalyco/opencode/issues/1279>

use super::prelude::*;

pub static FLAW: Flaw = Flaw::new("empty-id-kept", "thread-survives", || Box::new(EmptyIdKept))
    .class("empty-id")
    .not_on(
        &[Dialect::AnthropicMessages, Dialect::OpenaiResponses, Dialect::BedrockConverse],
        "the provider assigns the ids",
    )
    .not_on(&[Dialect::Gemini], "any id is accepted");

struct EmptyIdKept;

impl Decisions for EmptyIdKept {
    fn replaces_id(&self, problem: IdProblem) -> bool {
        problem != IdProblem::Missing
    }
}
