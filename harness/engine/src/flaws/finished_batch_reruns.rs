//! BUG: After a stop while the model is writing about the results, the tools run again. Cherry Studio:
//! <https://github.com/CherryHQ/cherry-studio/issues/16642>

use super::prelude::*;

flaw! {
    Flaw::new("finished-batch-reruns", "executed-once").class("double-exec");

    struct { call_ids: Vec<String> }

    fn stops(&mut self, step: &mut Step, progress: Progress, _: &[Tool], session: &mut Session) -> OnStop {
        let is_talking = matches!(step.phase, Phase::Coming { terminated: false, .. });
        if is_talking && !step.message().is_empty() && step.calls().next().is_none() {
            let results =
                session.thread[progress.start..].iter().rev().find_map(Message::results).unwrap_or_default();
            self.call_ids = results.iter().map(|result| result.call_id.clone()).collect();
        }
        OnStop::KeepReply
    }

    fn turn_begins(&mut self, thread: &[Message], _: &mut Vec<LateRun>) -> Vec<Call> {
        std::mem::take(&mut self.call_ids).iter().filter_map(|id| call_of(thread, id)).collect()
    }
}
