//! BUG: Arguments that were cut off are completed, and the tool runs. LangChain.js:
//! <https://github.com/langchain-ai/langchainjs/issues/11471>

use super::prelude::*;

flaw! {
    Flaw::new("cut-arguments-repaired", "arguments-complete").class("partial-args")
        .not_on(&[Dialect::Gemini], "arguments are sent as JSON");

    fn invalid(&self, args: &mut String, problem: InvalidCall) -> Option<InvalidCall> {
        if problem != InvalidCall::CutOff {
            return Some(problem);
        }
        args.push_str("\"}");
        None
    }
}
