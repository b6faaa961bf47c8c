//! Calls of a plan that hand the conversation over to another agent.

use super::{CallKey, Plan, PlannedCall, PlannedTool, Script};

impl PlannedTool {
    /// The name of the agent that the tool hands over to, if it does. It is an identifier, because some
    /// systems require one.
    pub fn other_agent(&self) -> Option<String> {
        let stem: String =
            self.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        self.hands_over.then(|| format!("agent_of_{stem}"))
    }
}

impl Plan {
    /// True if an earlier call of the same reply hands over, so that a system need not run this one.
    pub fn is_extra_handoff(&self, key: CallKey) -> bool {
        let call = &self.calls[key.0 as usize];
        let place = (call.turn, call.reply, call.attempt);
        let mut earlier = self.calls[..key.0 as usize].iter();
        call.hands_over
            && earlier.any(|other| other.hands_over && (other.turn, other.reply, other.attempt) == place)
    }
}

impl Script {
    /// True if one of its calls hands the conversation over. `calls` are the plan's calls.
    pub fn hands_over(&self, calls: &[PlannedCall]) -> bool {
        self.calls().any(|key| calls[key.0 as usize].hands_over)
    }
}
