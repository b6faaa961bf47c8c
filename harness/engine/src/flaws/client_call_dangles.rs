//! BUG: A call handed to the client gets no result if the turn is stopped before the result arrives. A report
//! of this class: <https://github.com/CopilotKit/CopilotKit/issues/7277>

use super::prelude::*;

flaw! {
    Flaw::new("client-call-dangles", "thread-survives").class("frontend-tool");

    struct { of_client: Vec<String> }

    fn stops(&mut self, _: &mut Step, _: Progress, tools: &[Tool], _: &mut Session) -> OnStop {
        self.of_client = of_client(tools);
        OnStop::KeepReply
    }

    fn answer(&self, call: &StepCall, why: CutOff) -> Option<CallResult> {
        if self.of_client.contains(&call.call.tool) { None } else { Reference.answer(call, why) }
    }
}
