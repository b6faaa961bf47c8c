//! BUG: The provider stores its replies. A loaded thread references the calls, but has lost the reasoning
//! that led to them. Mastra: <https://github.com/mastra-ai/mastra/issues/8738>

use super::prelude::*;

flaw! {
    Flaw::new("reasoning-dropped", "thread-survives").class("reasoning-missing")
        .only_on(&[Dialect::OpenaiResponses], "no stored reasoning requires its call");

    fn request(&mut self, setup: &Setup, thread: &mut [Message], _: RequestId, _: Asking) -> Vec<u8> {
        // Text is sent without the id that binds it to reasoning, so reasoning that led to text is left out.
        let mut sent = thread.to_vec();
        keep_thoughts(&mut sent, |next| matches!(next, Some(Block::Call(_))));
        stored(request::body(setup, &sent))
    }

    fn loaded(&self, thread: Vec<Message>) -> Vec<Message> {
        let mut thread = repaired(thread);
        keep_thoughts(&mut thread, |_| false);
        thread
    }
}

/// Drops thoughts, depending on the block that follows them.
fn keep_thoughts(thread: &mut [Message], is_kept: fn(Option<&Block>) -> bool) {
    for message in thread {
        if let Message::Assistant(blocks) = message
            && let [Block::Thought(_), rest @ ..] = blocks.as_slice()
            && !is_kept(rest.first())
        {
            blocks.remove(0);
        }
    }
}
