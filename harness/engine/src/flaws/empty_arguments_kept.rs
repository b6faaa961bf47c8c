//! BUG: A call without arguments is kept with an empty string as its arguments. codex-relay:
//! <https://github.com/MetaFARS/codex-relay/issues/57>

use super::prelude::*;

flaw! {
    Flaw::new("empty-arguments-kept", "thread-survives").class("partial-args")
        .not_on(
            &[Dialect::AnthropicMessages, Dialect::BedrockConverse, Dialect::Gemini],
            "arguments are sent as JSON",
        )
        .not_on(
            &[Dialect::OpenaiResponses, Dialect::Mistral],
            "arguments are sent back as text, which is not parsed",
        );

    fn fills_empty_arguments(&self) -> bool {
        false
    }

    fn keeps_arguments(&self, problem: InvalidCall) -> bool {
        problem == InvalidCall::Empty || Reference.keeps_arguments(problem)
    }
}
