//! BUG: A call with arguments that are not JSON is skipped, but kept. A report of this class:
//! <https://github.com/0xPlaygrounds/rig/issues/2447>

use super::prelude::*;

flaw! {
    Flaw::new("bad-arguments-skipped", "thread-survives").class("invalid-args")
        .not_on(&[Dialect::Gemini], "arguments are sent as JSON");

    fn answers_invalid(&self, problem: InvalidCall) -> bool {
        problem != InvalidCall::NotJson
    }
}
