//! BUG: A call runs with the arguments that had arrived when the stream broke. A report of this class:
//! <https://github.com/can1357/oh-my-pi/issues/11104>

use super::prelude::*;

flaw! {
    Flaw::new("partial-arguments-run", "arguments-complete").class("partial-args")
        .not_on(
            &[Dialect::Gemini, Dialect::Mistral],
            "a call comes in one piece, so there are no partial arguments",
        );

    fn reply_failed(&mut self, step: &mut Step, _: Failure<'_>, session: &mut Session) -> Next {
        let open = |call: &&mut StepCall| call.state == CallState::Open && !call.call.args.is_empty();
        for call in step.calls_mut().filter(open) {
            let run = session.counter.run();
            call.state = CallState::Running(run);
            let args = std::mem::replace(&mut call.call.args, "{}".to_owned());
            session.outputs.push(Output::StartTool { run, tool: call.call.tool.clone(), args });
        }
        Next::GoOn
    }
}
