//! BUG: If the provider permanently rejects the request that contains the results, the results are dropped.
//! Zed: <https://github.com/zed-industries/zed/issues/29401>

use super::prelude::*;

flaw! {
    Flaw::new("error-loses-results", "thread-survives").class("provider-error-midloop");

    fn keeps_failed(&mut self, _: &Step, _: Progress, failure: Failure<'_>, session: &mut Session) -> bool {
        let is_lost = !failure.may_pass && matches!(session.thread.last(), Some(Message::Results(_)));
        if is_lost {
            session.thread.pop();
        }
        !is_lost
    }
}
