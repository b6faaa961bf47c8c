//! BUG: If the provider rejects a sub-agent's request, the sub-agent's call gets no result, and the turn
//! waits forever. Roo Code: <https://github.com/RooCodeInc/Roo-Code/issues/7780>

use super::prelude::*;

pub static FLAW: Flaw = Flaw::new("sub-agent-error-unheard", "turn-ends", || Box::new(SubAgentErrorUnheard))
    .class("subagent-state");

struct SubAgentErrorUnheard;

impl Decisions for SubAgentErrorUnheard {
    fn hears_failed_sub_agent(&self) -> bool {
        false
    }
}
