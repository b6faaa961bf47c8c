//! BUG: A turn that reaches its step limit leaves the calls in its last step without results. OpenTag:
//! <https://github.com/CopilotKit/OpenTag/issues/27>

use super::prelude::*;

flaw! {
    Flaw::new("limit-leaves-calls", "thread-survives").class("max-steps");

    fn keeps_result_at(&self, halt: Halt, _: bool) -> bool {
        halt != Halt::Limit
    }
}
