//! BUG: A result that arrives during the next turn is sent together with that turn's batch. Gemini CLI:
//! <https://github.com/google-gemini/gemini-cli/issues/4942>

use super::prelude::*;

flaw! {
    Flaw::new("late-result-joins-batch", "thread-survives").class("late-result")
        .not_on(&[Dialect::OpenaiResponses], "a result may follow any call, and may be repeated");

    struct { late: Vec<CallResult> }

    fn late_result(&mut self, call_id: String, outcome: &ToolOutcome, _: &mut Vec<Message>) {
        self.late.push(CallResult::text(call_id, outcome.text().to_owned(), false));
    }

    fn record(&mut self, step: &Step, _: &mut Said, _: Option<&Change>) -> Vec<Message> {
        let mut results = step.results();
        if !results.is_empty() {
            results.append(&mut self.late);
        }
        saved(step.message(), results)
    }
}
