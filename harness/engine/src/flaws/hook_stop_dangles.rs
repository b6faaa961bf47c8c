//! BUG: If a hook stops the turn in the middle of a batch, the other calls get no results. KiraAI:
//! <https://github.com/xxynet/KiraAI/issues/118>

use super::prelude::*;

flaw! {
    Flaw::new("hook-stop-dangles", "thread-survives").class("hook-inject");

    fn answer(&self, call: &StepCall, why: CutOff) -> Option<CallResult> {
        if why == CutOff::Interrupted(InterruptCause::Hook) { None } else { Reference.answer(call, why) }
    }
}
