//! BUG: Results of a write that has failed are replaced by an interruption. A report of this class:
//! <https://github.com/openai/openai-agents-python/issues/4615>

use super::prelude::*;

flaw! {
    Flaw::new("failed-write-denies-results", "results-kept").class("write-fails");

    fn write_fails(&mut self, _: Option<&mut Step>, session: &mut Session) {
        let Some(Message::Results(results)) = session.thread.last() else { return };
        let calls = results.iter().filter_map(|result| call_of(&session.thread, &result.call_id));
        let unknown = calls.map(|call| interrupted(&call)).collect();
        session.thread.pop();
        session.thread.push(Message::Results(unknown));
    }
}
