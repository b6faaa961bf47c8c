//! BUG: A stop ends the turn, but the connection to the provider stays open until the reply has ended. Codex CLI
//! 0.160 (`abort/in-second-step`).

use super::prelude::*;

flaw! {
    Flaw::new("stream-left-open", "connection-closed");

    fn hangs_up(&self) -> bool {
        false
    }
}
