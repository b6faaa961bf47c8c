//! BUG: The model's text beside calls is left out if one of the tools fails. No public issue is known.

use super::prelude::*;

flaw! {
    Flaw::new("text-beside-calls-dropped", "healthy-untouched")
        .not_on(&[Dialect::Mistral], "a client may drop such a text");

    fn record(&mut self, step: &Step, said: &mut Said, put_off: Option<&Change>) -> Vec<Message> {
        let mut messages = Reference.record(step, said, put_off);
        if step.results().iter().any(|result| result.is_error)
            && let Some(Message::Assistant(blocks)) = messages.first_mut()
        {
            blocks.retain(|block| !matches!(block, Block::Text(_)));
        }
        messages
    }
}
