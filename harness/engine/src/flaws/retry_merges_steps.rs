//! BUG: A retry continues the message of the failed attempt. opencode:
//! <https://github.com/anomalyco/opencode/issues/10616>

use super::prelude::*;

flaw! {
    Flaw::new("retry-merges-steps", "steps-kept-apart").class("retry-merge");

    struct { kept: Vec<StepBlock> }

    fn reply_failed(&mut self, step: &mut Step, failure: Failure<'_>, _: &mut Session) -> Next {
        if !failure.may_retry || step.blocks.is_empty() {
            return Next::GoOn;
        }
        self.kept = taken_blocks(step);
        Next::Retry
    }

    fn reply_begins(&mut self, reply: &mut Step) {
        reply.blocks = std::mem::take(&mut self.kept);
    }
}
