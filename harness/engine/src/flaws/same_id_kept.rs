//! BUG: A call with the same id as another call keeps that id. Crush:
//! <https://github.com/charmbracelet/crush/issues/3121>

use super::prelude::*;

flaw! {
    Flaw::new("same-id-kept", "thread-survives").class("dup-id")
        .not_on(
            &[Dialect::AnthropicMessages, Dialect::OpenaiResponses, Dialect::BedrockConverse],
            "the provider assigns the ids",
        )
        .not_on(&[Dialect::Gemini], "any id is accepted");

    fn replaces_id(&self, problem: IdProblem) -> bool {
        problem != IdProblem::Taken
    }
}
