//! BUG: A complete but empty reply is kept as a message without content. ellmer:
//! <https://github.com/tidyverse/ellmer/issues/710>

use super::prelude::*;

flaw! {
    Flaw::new("empty-reply-kept", "thread-survives").class("empty-content")
        .not_on(
            &[Dialect::OpenaiResponses, Dialect::Mistral, Dialect::BedrockConverse],
            "a message without content is omitted or accepted, or two messages of one role are",
        );

    fn reply_complete(&mut self, step: &Step, session: &mut Session) -> Next {
        if step.message().is_empty() {
            session.thread.push(Message::Assistant(Vec::new()));
        }
        Next::GoOn
    }
}
