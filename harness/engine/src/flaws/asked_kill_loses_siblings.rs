//! BUG: A kill while the user is being asked loses the results of the other calls. OpenAI Agents:
//! <https://github.com/openai/openai-agents-python/issues/3006>

use super::prelude::*;

flaw! {
    Flaw::new("asked-kill-loses-siblings", "results-kept").class("hitl-resume");

    fn save_running(&self, step: &Step, _: Progress, thread: &mut Vec<Message>) {
        let results = if step.is_asking() { Vec::new() } else { step.results() };
        thread.extend(saved(step.message_so_far(), results));
    }
}
