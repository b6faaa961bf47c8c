//! BUG: A reply without its terminal event is treated as complete. A report of this class:
//! <https://github.com/anomalyco/opencode/issues/21326>

use super::prelude::*;

flaw! {
    Flaw::new("truncation-swallowed", "truncation-noticed").class("stream-break");

    fn is_complete(&self, reply: &mut Step, _: bool) -> bool {
        reply.drop_open_calls();
        true
    }
}
