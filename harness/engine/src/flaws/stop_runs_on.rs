//! BUG: After the user's stop the turn continues: the agent requests the next reply and runs its tools.
//! tunacode: <https://github.com/alchemiststudiosDOTai/tunacode/issues/258>

use super::prelude::*;

pub static FLAW: Flaw = Flaw::new("stop-runs-on", "stops-when-stopped", || Box::new(StopRunsOn));

struct StopRunsOn;

impl Decisions for StopRunsOn {
    fn stopped(&mut self, _: &mut Turn) -> Next {
        Next::Ask
    }
}
