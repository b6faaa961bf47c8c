//! BUG: A message that the user took back stays in the history of requests. Cline:
//! <https://github.com/cline/cline/issues/5726>

use super::prelude::*;

flaw! {
    Flaw::new("rewind-forgotten", "rewind-honoured").class("edit-history");

    fn rewound(&self, thread: &[Message], _: usize) -> Vec<Message> {
        thread.to_vec()
    }
}
