//! BUG: An error that arrives before the reply ends is recorded on arrival, and again when the reply ends. A
//! report of this class: <https://github.com/QwenLM/qwen-code/issues/8163>

use super::prelude::*;

flaw! {
    Flaw::new("error-twice", "results-once").class("dup-result");

    struct {
        early_error: Option<RequestId>,
        last_first: LastFirst,
    }

    fn call_ended(&mut self, step: &mut Step, id: &str, outcome: &ToolOutcome, _: &mut Session) {
        if !matches!(step.phase, Phase::Over) && !outcome.is_success() {
            self.early_error = Some(step.request);
        }
        self.last_first.note(step, id);
    }

    fn record(&mut self, step: &Step, _: &mut Said, _: Option<&Change>) -> Vec<Message> {
        let (mut results, is_last_first) = (step.results(), self.last_first.take(step));
        if self.early_error == Some(step.request) && !is_last_first {
            let errors: Vec<CallResult> = results.iter().filter(|result| result.is_error).cloned().collect();
            results.extend(errors);
        }
        saved(step.message(), results)
    }
}
