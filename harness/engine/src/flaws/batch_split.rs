//! BUG: If the last call of a batch is answered first, the batch is saved as two, so that one part is
//! unsigned. A report of this class: <https://github.com/rowboatlabs/rowboat/issues/694>

use super::prelude::*;

flaw! {
    Flaw::new("batch-split", "thread-survives").class("thought-signature")
        .only_on(&[Dialect::Gemini], "calls are not signed");

    struct { last_first: LastFirst }

    fn call_ended(&mut self, step: &mut Step, id: &str, _: &ToolOutcome, _: &mut Session) {
        self.last_first.note(step, id);
    }

    fn record(&mut self, turn: &mut Turn, put_off: Option<&Change>, session: &mut Session) {
        if !self.last_first.take(&turn.step) {
            return Reference.record(turn, put_off, session);
        }
        let (mut message, mut results) = (turn.step.message(), turn.step.results());
        let last_call = message.split_off(message.len() - 1);
        let last_result = results.split_off(results.len() - 1);
        session.push_message(message);
        session.push_results(results);
        session.push_message(last_call);
        session.push_results(last_result);
    }
}
