//! BUG: The agent saves unanswered calls and from then on rejects its own history. A report of this class:
//! <https://github.com/twentyhq/twenty/issues/21276>

use super::prelude::*;

flaw! {
    Flaw::new("refuses-own-history", "thread-survives").class("abort-batch");

    fn refuses(&self, thread: &[Message]) -> Option<TurnOutcome> {
        let (class, text) = ("MissingToolResultsError".to_owned(), "tool results are missing".to_owned());
        (!unanswered(thread).is_empty()).then_some(TurnOutcome::Raised { class, text })
    }

    fn answer(&self, call: &StepCall, why: CutOff) -> Option<CallResult> {
        if why == CutOff::Stopped { None } else { Reference.answer(call, why) }
    }
}
