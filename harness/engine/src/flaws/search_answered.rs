//! BUG: At the user's stop, the client also sends its own result for a tool that the provider runs itself.
//! eve did that for a call with arguments that were not JSON: <https://github.com/vercel/eve/pull/1246>

use super::prelude::*;

flaw! {
    Flaw::new("search-answered", "thread-survives").class("server-tool").only_on(SEARCHING, NO_SEARCH);

    struct {
        /// The ids of the calls that have no result at the stop.
        open: Vec<String>,
    }

    fn keeps_part(&mut self, why: CutOff, step: &mut Step, _: &mut Vec<Message>) {
        let found: Vec<&str> = server_blocks(step).filter_map(server_tools::answered).collect();
        let called = server_blocks(step).filter_map(server_tools::called);
        let open = called.filter(|id| why == CutOff::Stopped && !found.contains(id));
        self.open = open.map(str::to_owned).collect();
    }

    fn record(&mut self, step: &Step, said: &mut Said, put_off: Option<&Change>) -> Vec<Message> {
        let mut messages = Reference.record(step, said, put_off);
        let made_up = |id| CallResult::text(id, format!("{MADE_UP}."), true);
        messages.extend(saved(Vec::new(), self.open.drain(..).map(made_up).collect()));
        messages
    }
}

fn server_blocks(step: &Step) -> impl Iterator<Item = &ServerBlock> {
    step.blocks.iter().filter_map(|block| match block {
        StepBlock::Server(block) => Some(block),
        StepBlock::Thought(_) | StepBlock::Text(_) | StepBlock::Call(_) => None,
    })
}
