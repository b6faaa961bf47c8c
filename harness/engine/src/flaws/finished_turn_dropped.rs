//! BUG: A stop at the moment when the last reply is complete undoes the turn. Junior:
//! <https://github.com/getsentry/junior/issues/1559>

use super::prelude::*;

flaw! {
    Flaw::new("finished-turn-dropped", "user-message-kept").class("late-abort");

    fn stops(&mut self, step: &mut Step, progress: Progress, _: &[Tool], session: &mut Session) -> OnStop {
        let is_whole = matches!(step.phase, Phase::Coming { terminated: true, .. });
        if !is_whole || step.calls().next().is_some() {
            return OnStop::KeepReply;
        }
        session.thread.truncate(progress.start);
        OnStop::DropReply
    }
}
