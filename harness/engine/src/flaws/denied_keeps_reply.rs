//! BUG: A denied call ends the turn; the reply is kept without results. tunacode:
//! <https://github.com/alchemiststudiosDOTai/tunacode/issues/246>

use super::prelude::*;

flaw! {
    Flaw::new("denied-keeps-reply", "thread-survives").class("approval-denied");

    fn denied(&mut self, step: &Step) -> Next {
        Next::BreakOff(saved(step.message(), Vec::new()), raised("the user refused"))
    }
}
