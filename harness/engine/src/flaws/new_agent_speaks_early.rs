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

    fn record(&mut self, turn: &mut Turn, put_off: Option<&Change>, session: &mut Session) {
        let Some(answered) = self.answered.take() else { return Reference.record(turn, put_off, session) };
        let is_before = |result: &CallResult| answered.contains(&result.call_id);
        let (before, after): (Vec<_>, Vec<_>) = turn.step.results().into_iter().partition(is_before);
        session.push_message(turn.step.message());
        session.push_results(before);
        if !after.is_empty() {
            session.push_message(vec![Block::Text("I take over from here.".to_owned())]);
            session.push_results(after);
        }
    }
}
