//! BUG: A denied call ends the turn; the reply is kept without results. tunacode:
//! <https://github.com/alchemiststudiosDOTai/tunacode/issues/246>

use super::prelude::*;

flaw! {
    Flaw::new("denied-keeps-reply", "thread-survives").class("approval-denied");

    fn denied(&mut self, step: &Step, session: &mut Session) -> Next {
        session.let_go(step);
        session.thread.extend(saved(step.message(), Vec::new()));
        Next::End(raised("the user refused"))
    }
}
