//! BUG: If the provider rejects a sub-agent's request, the sub-agent's call gets no result, and the turn
//! waits forever. Roo Code: <https://github.com/RooCodeInc/Roo-Code/issues/7780>

use super::prelude::*;

flaw! {
    Flaw::new("sub-agent-error-unheard", "turn-ends").class("subagent-state");

    fn hears_failed_sub_agent(&self) -> bool {
        false
    }
}
