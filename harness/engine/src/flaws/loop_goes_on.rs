//! BUG: The user's stop does not reach the loop: when the tools are done, it requests the next reply.
//! tunacode 0.2.3: <https://github.com/alchemiststudiosDOTai/tunacode/issues/258>

use super::prelude::*;

flaw! {
    Flaw::new("loop-goes-on", "stops-when-stopped");

    fn stops(&mut self, step: &mut Step, _: Progress, _: &[Tool], _: &mut Session) -> OnStop {
        let runs = step.calls().any(|call| matches!(call.state, CallState::Running(_)));
        if runs && matches!(step.phase, Phase::Over) { OnStop::Wait } else { OnStop::KeepReply }
    }
}
