//! BUG: A prompt that the provider answers only with errors leaves an empty message, so that two prompts are
//! not sent as one. A report of this class: <https://github.com/Aider-AI/aider/issues/1853>

use super::prelude::*;

flaw! {
    Flaw::new("users-not-merged", "thread-survives").class("role-alternation")
        .not_on(
            &[Dialect::OpenaiResponses, Dialect::Mistral, Dialect::BedrockConverse],
            "a message without content is omitted or accepted, or two messages of one role are",
        );

    fn keeps_failed(
        &mut self,
        step: &Step,
        progress: Progress,
        _: Failure<'_>,
        session: &mut Session,
    ) -> bool {
        if step.blocks.is_empty() && progress.n_requests <= MAX_RETRIES + 1 {
            session.thread.push(Message::Assistant(Vec::new()));
        }
        true
    }
}
