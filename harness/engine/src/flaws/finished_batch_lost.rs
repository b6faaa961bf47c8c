//! BUG: A stop while the model is writing about the results also drops the results. A report of this class:
//! <https://github.com/sandialabs/atlas-ui-3/issues/755>

use super::prelude::*;

flaw! {
    Flaw::new("finished-batch-lost", "results-kept").class("lost-exec");

    fn stops(&mut self, turn: &mut Turn, _: &[Tool], session: &mut Session) -> OnStop {
        let has_calls = turn.step.calls().any(|call| call.state != CallState::Open);
        if turn.n_requests > 1 && turn.step.has_text() && !has_calls {
            session.thread.truncate(turn.start + 1);
        }
        OnStop::KeepReply
    }
}
