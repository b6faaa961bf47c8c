//! BUG: The user's stop waits for tools that ignore it. senpi:
//! <https://github.com/code-yeongyu/senpi/issues/970>

use super::prelude::*;

flaw! {
    Flaw::new("deaf-tool-awaited", "turn-ends").class("non-coop-tool");

    struct { is_stopping: bool }

    fn stops(&mut self, step: &mut Step, _: Progress, tools: &[Tool], session: &mut Session) -> OnStop {
        let is_deaf = |call: &StepCall| tools.iter().any(|tool| tool.name == call.call.tool && tool.deaf);
        let is_running = |call: &StepCall| matches!(call.state, CallState::Running(_));
        if !step.calls().any(|call| is_running(call) && is_deaf(call)) {
            return OnStop::KeepReply;
        }
        if !matches!(step.phase, Phase::Over | Phase::Pausing(_)) {
            session.outputs.push(Output::HangUp { request: step.request });
        }
        step.drop_open_calls();
        for call in step.calls_mut() {
            match call.state {
                CallState::Running(_) if is_deaf(call) => continue,
                CallState::Running(run) => session.outputs.push(Output::CancelTool { run }),
                CallState::Asked(_) => {}
                CallState::Open | CallState::Done(_) | CallState::Forgotten => continue,
            }
            session.show(&call.call.id, ShownState::Failed);
            call.state = CallState::Done(interrupted(&call.call));
        }
        step.phase = Phase::Over;
        self.is_stopping = true;
        OnStop::Wait
    }

    fn ends_settled(&mut self) -> Option<TurnOutcome> {
        std::mem::take(&mut self.is_stopping).then_some(TurnOutcome::Cancelled)
    }
}
