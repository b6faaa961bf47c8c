//! BUG: If the last call of a batch is answered first, it is saved first. Gemini CLI:
//! <https://github.com/google-gemini/gemini-cli/issues/26956>

use super::prelude::*;

flaw! {
    Flaw::new("order-of-arrival", "order-kept").class("out-of-order");

    struct { last_first: LastFirst }

    fn call_ended(&mut self, step: &mut Step, id: &str, _: &ToolOutcome, _: &mut Session) {
        self.last_first.note(step, id);
    }

    fn record(&mut self, step: &Step, _: &mut Said, _: Option<&Change>) -> Vec<Message> {
        let mut message = step.message();
        if self.last_first.take(step) {
            let last = message.pop();
            let first_call = message.iter().position(|block| block.call().is_some()).unwrap_or(message.len());
            message.splice(first_call..first_call, last);
        }
        saved(message, step.results())
    }
}
