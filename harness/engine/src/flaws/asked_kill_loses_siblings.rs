//! BUG: A kill while the user is being asked loses the results of the other calls. OpenAI Agents:
//! <https://github.com/openai/openai-agents-python/issues/3006>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("asked-kill-loses-siblings", "results-kept", || Box::new(AskedKillLosesSiblings))
        .class("hitl-resume");

struct AskedKillLosesSiblings;

impl Decisions for AskedKillLosesSiblings {
    fn save_running(&self, turn: &Turn, thread: &mut Vec<Message>) {
        let results = if turn.step.is_asking() { Vec::new() } else { turn.step.results() };
        push(thread, turn.step.message_so_far(), results);
    }
}
