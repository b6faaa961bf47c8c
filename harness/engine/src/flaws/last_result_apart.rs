//! BUG: If the last call of a batch is answered first, its result gets a separate message. AgentScope:
//! <https://github.com/agentscope-ai/agentscope/issues/1892>

use super::prelude::*;

flaw! {
    Flaw::new("last-result-apart", "thread-survives").class("split-results")
        .only_on(&[Dialect::Gemini], "several messages with results are valid, or are merged");

    struct { last_first: LastFirst }

    fn call_ended(&mut self, step: &mut Step, id: &str, _: &ToolOutcome, _: &mut Session) {
        self.last_first.note(step, id);
    }

    fn record(&mut self, step: &Step, said: &mut Said, put_off: Option<&Change>) -> Vec<Message> {
        self.last_first.record((step, said, put_off), |message, mut results| {
            let last = results.split_off(results.len() - 1);
            [saved(message, last), saved(Vec::new(), results)].concat()
        })
    }
}
