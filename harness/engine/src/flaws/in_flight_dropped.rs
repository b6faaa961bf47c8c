//! BUG: If the stream breaks, calls in flight are saved without a result. Apex:
//! <https://github.com/pensarai/apex/issues/778>

use super::prelude::*;

flaw! {
    Flaw::new("in-flight-dropped", "thread-survives").class("stream-break");

    fn reply_failed(&mut self, turn: &mut Turn, failure: Failure<'_>, session: &mut Session) -> Next {
        turn.step.drop_open_calls();
        if !turn.step.has_side_effects() {
            return Next::GoOn;
        }
        session.let_go(&turn.step);
        session.push_message(turn.step.message());
        session.push_results(turn.step.results());
        Next::End(raised(failure.text))
    }
}
