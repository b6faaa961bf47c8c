//! BUG: The user's stop drops the step, including the results that had already arrived. A report of this
//! class: <https://github.com/sandialabs/atlas-ui-3/issues/755>

use super::prelude::*;

flaw! {
    Flaw::new("results-lost", "results-kept").class("lost-exec");

    fn stops(&mut self, _: &mut Step, _: Progress, _: &[Tool], _: &mut Session) -> OnStop {
        OnStop::DropReply
    }
}
