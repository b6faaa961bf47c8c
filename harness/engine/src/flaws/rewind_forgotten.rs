//! BUG: A message that the user took back stays in the history of requests. Cline:
//! <https://github.com/cline/cline/issues/5726>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("rewind-forgotten", "rewind-honoured", || Box::new(RewindForgotten)).class("edit-history");

struct RewindForgotten;

impl Decisions for RewindForgotten {
    fn rewound(&self, thread: &[Message], _: usize) -> Vec<Message> {
        thread.to_vec()
    }
}
