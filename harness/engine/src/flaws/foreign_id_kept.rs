//! BUG: Of a thread that was begun at another provider, ids are kept that this one does not take.
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
