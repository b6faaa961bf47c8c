//! BUG: The user's stop keeps a reply that had not begun, as a message without content. opencode:
//! <https://github.com/anomalyco/opencode/issues/37946>

use super::prelude::*;

flaw! {
    Flaw::new("placeholder-kept", "thread-survives").class("empty-content")
        .not_on(
            &[Dialect::OpenaiResponses, Dialect::Mistral, Dialect::BedrockConverse],
            "a message without content is omitted or accepted, or two messages of one role are",
        );

    fn stops(&mut self, step: &mut Step, progress: Progress, _: &[Tool], session: &mut Session) -> OnStop {
        if progress.n_requests == 1 && matches!(step.phase, Phase::Asked) {
            session.thread.push(Message::Assistant(Vec::new()));
        }
        OnStop::KeepReply
    }
}
