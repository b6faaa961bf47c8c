//! BUG: An id that the provider does not take back is kept.
//! opencode: <https://github.com/anomalyco/opencode/issues/1680>

use super::prelude::*;

pub static FLAW: Flaw = Flaw::new("foreign-id-kept", "thread-survives", || Box::new(ForeignIdKept))
    .class("id-format")
    .not_on(&[Dialect::Gemini], "ids may be anything");

struct ForeignIdKept;

impl Decisions for ForeignIdKept {
    fn replaces_id(&self, problem: IdProblem) -> bool {
        problem != IdProblem::Refused
    }
}
