//! BUG: Arguments that are not an object are kept unchanged. Claude Code:
//! <https://github.com/anthropics/claude-code/issues/6696>

use super::prelude::*;

flaw! {
    Flaw::new("not-object-kept", "thread-survives").class("non-dict-input")
        .not_on(
            &[Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Mistral],
            "arguments are sent back as text, which is not parsed",
        )
        .not_on(&[Dialect::Gemini], "arguments are always an object");

    fn keeps_arguments(&self, problem: InvalidCall) -> bool {
        problem == InvalidCall::NotObject || Reference.keeps_arguments(problem)
    }
}
