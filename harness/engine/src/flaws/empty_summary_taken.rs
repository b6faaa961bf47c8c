//! BUG: An empty summary replaces the history. No system is known to do this; the suite also covers bugs that were never
//! reported.

use super::prelude::*;

flaw! {
    Flaw::new("empty-summary-taken", "user-message-kept").class("compact-fails");

    fn takes_summary(&mut self, is_whole: bool, _: &str) -> bool {
        is_whole
    }
}
