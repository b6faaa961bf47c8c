//! BUG: A call handed to the client gets no result if the turn is stopped before the result arrives. A report
//! of this class: <https://github.com/CopilotKit/CopilotKit/issues/7277>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("client-call-dangles", "thread-survives", || Box::<ClientCallDangles>::default())
        .class("frontend-tool");

#[derive(Default)]
struct ClientCallDangles(Vec<String>);

impl Decisions for ClientCallDangles {
    fn stops(&mut self, _turn: &mut Turn, tools: &[Tool], _session: &mut Session) -> OnStop {
        self.0 = of_client(tools);
        OnStop::KeepReply
    }

    fn answer(&self, call: &StepCall, why: CutOff) -> Option<CallResult> {
        if self.0.contains(&call.call.tool) { None } else { Reference.answer(call, why) }
    }
}
