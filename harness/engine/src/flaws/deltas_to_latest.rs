//! BUG: Argument fragments are added to the call that began last, even if they belong to another call.
//! Continue: <https://github.com/continuedev/continue/issues/13223>

use super::prelude::*;

flaw! {
    Flaw::new("deltas-to-latest", "calls-answered").class("delta-index")
        .only_on(&[Dialect::OpenaiChat], "calls are not interleaved");

    fn call_of_piece(&self, reply: &Step, _: u64) -> u64 {
        reply.calls().last().map_or(0, |call| call.index)
    }
}
