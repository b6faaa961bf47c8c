//! BUG: A call handed to the client is recorded as done, even if it never ran there. A report of this class:
//! <https://github.com/CopilotKit/CopilotKit/issues/3442>

use super::prelude::*;

flaw! {
    Flaw::new("client-call-made-up", "success-honest").class("frontend-tool");

    struct { of_client: Vec<String> }

    fn stops(&mut self, _: &mut Step, _: Progress, tools: &[Tool], _: &mut Session) -> OnStop {
        self.of_client = of_client(tools);
        OnStop::KeepReply
    }

    fn answer(&self, call: &StepCall, why: CutOff) -> Option<CallResult> {
        let is_of_client = self.of_client.contains(&call.call.tool);
        if is_of_client { Some(done(&call.call)) } else { Reference.answer(call, why) }
    }
}
