//! BUG: After the user's stop the turn continues: the agent requests the next reply and runs its tools.
//! tunacode: <https://github.com/alchemiststudiosDOTai/tunacode/issues/258>

use super::prelude::*;

flaw! {
    Flaw::new("stop-runs-on", "stops-when-stopped");

    fn stopped(&mut self) -> Next {
        Next::Ask
    }
}
