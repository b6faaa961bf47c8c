//! BUG: A call handed to the client is recorded as done, even if it never ran there. A report of this class:
//! <https://github.com/CopilotKit/CopilotKit/issues/3442>

use super::prelude::*;

flaw! {
    Flaw::new("client-call-made-up", "success-honest").class("frontend-tool");

    struct { of_client: Vec<String> }

    fn stops(&mut self, _turn: &mut Turn, tools: &[Tool], _session: &mut Session) -> OnStop {
        self.of_client = of_client(tools);
        OnStop::KeepReply
    }

    fn answer(&self, call: &StepCall, why: CutOff) -> Option<CallResult> {
        if self.of_client.contains(&call.call.tool) { Some(done(&call.call)) } else { Reference.answer(call, why) }
    }
}
