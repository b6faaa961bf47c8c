//! BUG: A turn that has reached its limit of steps leaves the calls of the last step without results.
//! OpenTag: <https://github.com/CopilotKit/OpenTag/issues/27>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("limit-leaves-calls", "thread-survives", || Box::new(LimitLeavesCalls)).class("max-steps");

struct LimitLeavesCalls;

impl Decisions for LimitLeavesCalls {
    fn keeps_result_at(&self, halt: Halt, _: bool) -> bool {
        halt != Halt::Limit
    }
}
