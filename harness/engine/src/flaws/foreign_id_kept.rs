//! BUG: A thread from another provider keeps ids that this provider does not accept. opencode:
//! <https://github.com/anomalyco/opencode/issues/1680>

use super::prelude::*;

pub static FLAW: Flaw = Flaw::new("foreign-id-kept", "thread-survives", || Box::new(ForeignIdKept))
    .class("id-format")
    .not_on(&[Dialect::Gemini], "any id is accepted");

struct ForeignIdKept;

impl Decisions for ForeignIdKept {
    fn replaces_id(&self, problem: IdProblem) -> bool {
        problem != IdProblem::Refused
    }
}
