//! BUG: The user's stop records a call that waits for approval as done, if a tool runs at the same time. A
//! report of this class: <https://github.com/Hmbown/Codewhale/issues/6378>

use super::prelude::*;

flaw! {
    Flaw::new("question-taken-for-done", "success-honest").class("synthetic-wrong");

    struct { has_others: bool }

    fn keeps_part(&mut self, _: CutOff, step: &mut Step, _: &mut Vec<Message>) {
        self.has_others = step.calls().any(|call| !matches!(call.state, CallState::Asked(_)));
    }

    fn answer(&self, call: &StepCall, why: CutOff) -> Option<CallResult> {
        let is_asked = matches!(call.state, CallState::Asked(_));
        match why {
            CutOff::Stopped if is_asked && self.has_others => Some(done(&call.call)),
            _ => Reference.answer(call, why),
        }
    }
}
