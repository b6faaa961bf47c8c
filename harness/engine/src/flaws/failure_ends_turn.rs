//! BUG: A turn ends after a batch in which a tool returned an error, so the model never reads the error in that turn.
//! Found by changing the AI SDK; no public issue is known.

use super::prelude::*;

flaw! {
    Flaw::new("failure-ends-turn", "thread-survives");

    struct { has_failed: bool }

    fn reply_begins(&mut self, _: &mut Step) {
        self.has_failed = false;
    }

    fn call_ended(&mut self, _: &mut Step, _: &str, outcome: &ToolOutcome, _: &mut Session) {
        self.has_failed |= matches!(outcome, ToolOutcome::Error(_));
    }

    fn ends_settled(&mut self) -> Option<TurnOutcome> {
        self.has_failed.then_some(TurnOutcome::Returned)
    }
}
