//! BUG: A call without an id is kept with an empty one. opencode:
//! <https://github.com/anomalyco/opencode/issues/1279>

use super::prelude::*;

flaw! {
    Flaw::new("empty-id-kept", "thread-survives").class("empty-id")
        .not_on(
            &[Dialect::AnthropicMessages, Dialect::OpenaiResponses, Dialect::BedrockConverse],
            "the provider assigns the ids",
        )
        .not_on(&[Dialect::Gemini], "any id is accepted");

    fn replaces_id(&self, problem: IdProblem) -> bool {
        problem != IdProblem::Missing
    }
}
