//! BUG: A reply with text between two calls is kept as two messages. A report of this class:
//! <https://github.com/NanmiCoder/cc-haha/issues/582>

use super::prelude::*;

flaw! {
    Flaw::new("text-splits-reply", "thread-survives").class("interleave-text")
        .only_on(&[Dialect::Gemini], "text comes before the calls, or two messages in a row are read as one");

    fn record(&mut self, step: &Step, _: &mut Said, _: Option<&Change>) -> Vec<Message> {
        let begins = |pair: [&StepBlock; 2]| matches!(pair, [StepBlock::Call(_), StepBlock::Text(_)]);
        let parts = step.blocks.chunk_by(|one, next| !begins([one, next]));
        let messages = parts.flat_map(|part| saved(message_of(part, false), Vec::new()));
        messages.chain(saved(Vec::new(), step.results())).collect()
    }
}
