//! BUG: The agent that takes over replies immediately, so its text comes before the results of the tools that
//! still run. AG2: <https://github.com/ag2ai/ag2/issues/1843>

use super::prelude::*;

flaw! {
    Flaw::new("new-agent-speaks-early", "thread-survives").class("interleave-other")
        .not_on(&[Dialect::OpenaiResponses], "a message may come between the results of a batch");

    struct {
        /// The calls that had their results when control moved.
        answered: Option<Vec<String>>,
    }

    fn handed_over(&mut self, step: &mut Step, _: &mut Session) {
        self.answered = Some(step.results().into_iter().map(|result| result.call_id).collect());
    }

    fn record(&mut self, step: &Step, said: &mut Said, put_off: Option<&Change>) -> Vec<Message> {
        let Some(answered) = self.answered.take() else { return Reference.record(step, said, put_off) };
        let is_before = |result: &CallResult| answered.contains(&result.call_id);
        let (before, after): (Vec<_>, Vec<_>) = step.results().into_iter().partition(is_before);
        let mut messages = saved(step.message(), before);
        if !after.is_empty() {
            messages.extend(saved(vec![Block::Text("I take over from here.".to_owned())], after));
        }
        messages
    }
}
