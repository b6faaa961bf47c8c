//! BUG: The client answers a tool that the provider has run itself with a result of its own.
//! eve: <https://github.com/vercel/eve/pull/1246>

use super::prelude::*;

pub static FLAW: Flaw = Flaw::new("search-answered", "thread-survives", || Box::new(SearchAnswered))
    .class("server-tool")
    .only_on(SEARCHING, NO_SEARCH);

struct SearchAnswered;

impl Decisions for SearchAnswered {
    fn record(&mut self, turn: &mut Turn, put_off: Option<&Change>, session: &mut Session) {
        let found = turn.step.blocks.iter().filter_map(|block| match block {
            StepBlock::Server(ServerBlock::Result { call_id, .. }) => Some(call_id.clone()),
            _ => None,
        });
        let answers = found.map(|id| CallResult::text(id, "The tool failed.".to_owned(), true)).collect();
        Reference.record(turn, put_off, session);
        session.push_results(answers);
    }
}
