//! BUG: Results of a write that has failed are dropped, and their calls are kept. A report of this class:
//! <https://github.com/openai/openai-agents-python/issues/4615>

use super::prelude::*;

flaw! {
    Flaw::new("failed-write-drops-results", "thread-survives").class("write-fails");

    fn write_fails(&mut self, _: Option<&mut Step>, session: &mut Session) {
        session.thread.pop_if(|last| last.results_mut().is_some());
    }
}
