//! BUG: A stop while the model is writing about the results also drops the results. A report of this class:
//! <https://github.com/sandialabs/atlas-ui-3/issues/755>

use super::prelude::*;

flaw! {
    Flaw::new("finished-batch-lost", "results-kept").class("lost-exec");

    fn stops(&mut self, step: &mut Step, progress: Progress, _: &[Tool], session: &mut Session) -> OnStop {
        let has_calls = step.calls().any(|call| call.state != CallState::Open);
        if progress.n_requests > 1 && step.has_text() && !has_calls {
            session.thread.truncate(progress.start + 1);
        }
        OnStop::KeepReply
    }
}
