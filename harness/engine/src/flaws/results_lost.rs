//! BUG: The user's stop drops the step, including the results that had already arrived. A report of this
//! class: <https://github.com/sandialabs/atlas-ui-3/issues/755>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("results-lost", "results-kept", || Box::new(ResultsLost)).class("lost-exec");

struct ResultsLost;

impl Decisions for ResultsLost {
    fn stops(&mut self, _: &mut Turn, _: &[Tool], _: &mut Session) -> OnStop {
        OnStop::DropReply
    }
}
