//! BUG: The effect of a stop persists: replies in later turns are also kept as if they had been cut off. No
//! system is known to do this; the suite also covers bugs that were never reported.

use super::prelude::*;

flaw! {
    Flaw::new("stop-lingers", "healthy-untouched");

    struct { was_stopped: bool }

    fn stops(&mut self, _: &mut Step, _: Progress, _: &[Tool], _: &mut Session) -> OnStop {
        self.was_stopped = true;
        OnStop::KeepReply
    }

    fn continues(&self, step: &mut Step) {
        for block in step.blocks.iter_mut().filter(|_| self.was_stopped) {
            if let StepBlock::Text(text) = block {
                *text = text.split_whitespace().next().unwrap_or_default().to_owned();
            }
        }
    }
}
