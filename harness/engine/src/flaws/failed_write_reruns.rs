//! BUG: After the write of a result has failed, its call runs again. A report of this class:
//! <https://github.com/openai/openai-agents-python/issues/4690>

use super::prelude::*;

flaw! {
    Flaw::new("failed-write-reruns", "executed-once").class("write-fails");
    struct { rerun: Vec<String>, }

    fn write_fails(&mut self, _: Option<&mut Step>, session: &mut Session) {
        let Some(Message::Results(results)) = session.thread.last() else { return };
        let Some(last) = results.last().filter(|last| !self.rerun.contains(&last.call_id)) else { return };
        let Some(call) = call_of(&session.thread, &last.call_id) else { return };
        self.rerun.push(last.call_id.clone());
        let run = session.counter.run();
        session.outputs.push(Output::StartTool { run, tool: call.tool, args: call.args });
    }
}
