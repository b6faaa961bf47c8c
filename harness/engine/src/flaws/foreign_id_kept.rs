//! BUG: A thread from another provider keeps ids that this provider does not accept. opencode:
//! <https://github.com/anomalyco/opencode/issues/1680>

use super::prelude::*;

flaw! {
    Flaw::new("foreign-id-kept", "thread-survives").class("id-format")
        .not_on(&[Dialect::Gemini], "any id is accepted");

    fn replaces_id(&self, problem: IdProblem) -> bool {
        problem != IdProblem::Refused
    }
}
