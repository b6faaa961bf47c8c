//! BUG: The user's stop takes effect, but the turn never ends. A report of this class:
//! <https://github.com/TanStack/ai/issues/727>

use super::prelude::*;

flaw! {
    Flaw::new("never-ends", "turn-ends").class("stuck-state");

    fn stopped(&mut self) -> Next {
        Next::Wait
    }
}
