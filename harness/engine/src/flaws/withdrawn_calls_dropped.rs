//! BUG: The calls of a tool that is gone are removed from the history, and their results stay.

use super::prelude::*;

flaw! {
    Flaw::new("withdrawn-calls-dropped", "thread-survives").class("tools-changed");

    fn tools_change(&self, tools: &[Tool], thread: &mut Vec<Message>) {
        let gone = calls_of_no_tool(tools, thread);
        without_calls(thread, &gone);
    }
}
