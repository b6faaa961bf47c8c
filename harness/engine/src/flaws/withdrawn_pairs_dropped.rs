//! BUG: The calls of tools that are no longer offered are removed from the history with their results, so the model no longer
//! knows what it has done.

use super::prelude::*;

flaw! {
    Flaw::new("withdrawn-pairs-dropped", "results-kept").class("tools-changed");

    fn tools_change(&self, tools: &[Tool], thread: &mut Vec<Message>) {
        let gone = calls_of_no_tool(tools, thread);
        without_calls(thread, &gone);
        *thread = without_results(std::mem::take(thread), |result| gone.contains(&result.call_id));
    }
}
