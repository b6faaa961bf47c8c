//! BUG: A reply that has reached its maximum length is kept with its calls but without results. A report of
//! this class: <https://github.com/modelscope/ms-agent/issues/909>

use super::prelude::*;

/// The stop reasons for a reply that has reached its maximum length.
const LENGTH: [&str; 4] = ["max_tokens", "length", "max_output_tokens", "MAX_TOKENS"];

flaw! {
    Flaw::new("length-dangles", "thread-survives").class("max-tokens");

    fn reply_complete(&mut self, step: &Step, _: &mut Session) -> Next {
        let is_cut = step.stop.as_deref().is_some_and(|reason| LENGTH.contains(&reason));
        if !is_cut || step.calls().next().is_none() {
            return Next::GoOn;
        }
        Next::BreakOff(saved(step.message(), Vec::new()), TurnOutcome::Returned)
    }
}
