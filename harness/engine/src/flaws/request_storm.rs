//! BUG: After the user's stop the agent sends request after request. No system is known to do this; the suite
//! also covers bugs that were never reported.

use super::prelude::*;

const N_REQUESTS: u32 = 8;

flaw! {
    Flaw::new("request-storm", "requests-bounded");

    struct {
        /// The number of requests that are still to come in the storm.
        n_left: Option<u32>,
    }

    fn stopped(&mut self) -> Next {
        self.n_left = Some(N_REQUESTS);
        self.next()
    }

    fn reply_complete(&mut self, _: &Step, _: &mut Session) -> Next {
        self.next()
    }

    fn reply_failed(&mut self, _: &mut Step, _: Failure<'_>, _: &mut Session) -> Next {
        self.next()
    }
}

impl Bug {
    fn next(&mut self) -> Next {
        match self.n_left {
            None => Next::GoOn,
            Some(0) => {
                self.n_left = None;
                Next::End(TurnOutcome::Cancelled)
            }
            Some(n_left) => {
                self.n_left = Some(n_left - 1);
                Next::Ask
            }
        }
    }
}
