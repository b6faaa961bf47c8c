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

    fn record(&mut self, step: &Step, said: &mut Said, put_off: Option<&Change>) -> Vec<Message> {
        self.last_first.record((step, said, put_off), |mut message, mut results| {
            let last_call = message.split_off(message.len() - 1);
            let last_result = results.split_off(results.len() - 1);
            [saved(message, results), saved(last_call, last_result)].concat()
        })
    }
}
