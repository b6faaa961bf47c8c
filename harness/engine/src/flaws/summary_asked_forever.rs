//! BUG: A refused request for a summary is sent again without end, so the turn never continues. No system is known to do
//! this; the suite also covers bugs that were never reported.

use super::prelude::*;

flaw! {
    Flaw::new("summary-asked-forever", "requests-bounded").class("compact-fails");

    fn asks_again_for_summary(&mut self) -> bool {
        true
    }
}
