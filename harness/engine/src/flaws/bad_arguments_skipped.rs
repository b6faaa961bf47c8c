//! BUG: A call with arguments that are not JSON is skipped, but kept. A report of this class:
//! <https://github.com/0xPlaygrounds/rig/issues/2447>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("bad-arguments-skipped", "thread-survives", || Box::new(BadArgumentsSkipped))
        .class("invalid-args")
        .not_on(&[Dialect::Gemini], "arguments are sent as JSON");

struct BadArgumentsSkipped;

impl Decisions for BadArgumentsSkipped {
    fn answers_invalid(&self, problem: InvalidCall) -> bool {
        problem != InvalidCall::NotJson
    }
}
