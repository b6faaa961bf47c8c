//! BUG: The results of a tool that is gone are removed from the history, and its calls stay.

use super::prelude::*;

flaw! {
    Flaw::new("withdrawn-results-dropped", "thread-survives").class("tools-changed");

    fn tools_change(&self, tools: &[Tool], thread: &mut Vec<Message>) {
        let gone = calls_of_no_tool(tools, thread);
        *thread = without_results(std::mem::take(thread), |result| gone.contains(&result.call_id));
    }
}
