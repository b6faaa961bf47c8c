//! BUG: Once a tool has returned an error, the reply of each turn without calls is kept as a message of the user. No
//! public issue is known.

use super::prelude::*;

flaw! {
    Flaw::new("reply-in-users-role", "healthy-untouched");

    struct { has_failed: bool, has_called: bool }

    fn turn_begins(&mut self, _: &[Message], _: &mut Vec<LateRun>) -> Vec<Call> {
        self.has_called = false;
        Vec::new()
    }

    fn call_ended(&mut self, _: &mut Step, _: &str, outcome: &ToolOutcome, _: &mut Session) {
        self.has_failed |= matches!(outcome, ToolOutcome::Error(_));
    }

    fn record(&mut self, step: &Step, said: &mut Said, put_off: Option<&Change>) -> Vec<Message> {
        self.has_called |= step.calls().next().is_some();
        let is_text = |block: &StepBlock| matches!(block, StepBlock::Text(_));
        let is_plain = !self.has_called && step.has_text() && step.blocks.iter().all(is_text);
        match self.has_failed && is_plain && !step.text().trim().is_empty() {
            true => vec![Message::User(step.text())],
            false => Reference.record(step, said, put_off),
        }
    }
}
