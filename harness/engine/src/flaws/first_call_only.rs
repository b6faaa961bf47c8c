//! BUG: After a failed reply, only the first call of a batch is run and kept; the others vanish. Strands for
//! TypeScript keeps only the last call of every batch over Chat Completions; no public issue is known.

use super::prelude::*;

flaw! {
    Flaw::new("first-call-only", "calls-answered").class("partial-batch");

    struct { has_failed: bool }

    fn reply_failed(&mut self, _: &mut Step, _: Failure<'_>, _: &mut Session) -> Next {
        self.has_failed = true;
        Next::GoOn
    }

    fn takes_call(&self, reply: &Step, index: u64) -> bool {
        !self.has_failed || reply.calls().next().is_none_or(|first| first.index == index)
    }
}
