//! BUG: If the stream breaks, calls in flight are saved without a result. Apex:
//! <https://github.com/pensarai/apex/issues/778>

use super::prelude::*;

flaw! {
    Flaw::new("in-flight-dropped", "thread-survives").class("stream-break");

    fn reply_failed(&mut self, step: &mut Step, failure: Failure<'_>, _: &mut Session) -> Next {
        step.drop_open_calls();
        if !step.has_side_effects() {
            return Next::GoOn;
        }
        Next::BreakOff(saved(step.message(), step.results()), raised(failure.text))
    }
}
