//! BUG: Calls that were cut off run again in the next turn. A report of this class:
//! <https://github.com/odysseus-dev/odysseus/issues/3570>

use super::prelude::*;

flaw! {
    Flaw::new("runs-twice", "executed-once").class("double-exec");

    fn turn_begins(&mut self, thread: &[Message], late: &mut Vec<LateRun>) -> Vec<Call> {
        late.drain(..).filter_map(|late| call_of(thread, &late.call_id)).collect()
    }
}
