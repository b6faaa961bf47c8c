//! BUG: After the user's stop the turn goes on: the model is asked for its next reply, whose tools run.
//! tunacode: <https://github.com/alchemiststudiosDOTai/tunacode/issues/258>

use super::prelude::*;

pub static FLAW: Flaw = Flaw::new("stop-runs-on", "stops-when-stopped", || Box::new(StopRunsOn));

struct StopRunsOn;

impl Decisions for StopRunsOn {
    fn stopped(&mut self, _: &mut Turn) -> Next {
        Next::Ask
    }
}
