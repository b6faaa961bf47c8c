//! BUG: An unpaired surrogate in the arguments is kept. Claude Code:
//! <https://github.com/anthropics/claude-code/issues/69927>

use super::prelude::*;

flaw! {
    Flaw::new("surrogate-kept", "thread-survives").class("bad-unicode")
        .not_on(&[Dialect::Gemini], "arguments are sent as JSON")
        .not_on(
            &[Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Mistral],
            "arguments are sent back as text, which is not parsed",
        );

    fn keeps_arguments(&self, problem: InvalidCall) -> bool {
        problem == InvalidCall::LoneSurrogate || Reference.keeps_arguments(problem)
    }
}
