//! BUG: A call handed to the client is recorded as done, even if it never ran there. A report of this class:
//! <https://github.com/CopilotKit/CopilotKit/issues/3442>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("client-call-made-up", "success-honest", || Box::<ClientCallMadeUp>::default())
        .class("frontend-tool");

#[derive(Default)]
struct ClientCallMadeUp(Vec<String>);

impl Decisions for ClientCallMadeUp {
    fn stops(&mut self, _turn: &mut Turn, tools: &[Tool], _session: &mut Session) -> OnStop {
        self.0 = of_client(tools);
        OnStop::KeepReply
    }

    fn answer(&self, call: &StepCall, why: CutOff) -> Option<CallResult> {
        if self.0.contains(&call.call.tool) { Some(done(&call.call)) } else { Reference.answer(call, why) }
    }
}
