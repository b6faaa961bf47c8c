//! BUG: A reply with text between two calls is kept as two messages. A report of this class:
//! <https://github.com/NanmiCoder/cc-haha/issues/582>

use super::prelude::*;

flaw! {
    Flaw::new("text-splits-reply", "thread-survives").class("interleave-text")
        .only_on(&[Dialect::Gemini], "text comes before the calls, or two messages in a row are read as one");

    fn record(&mut self, turn: &mut Turn, _: Option<&Change>, session: &mut Session) {
        let begins = |pair: [&StepBlock; 2]| matches!(pair, [StepBlock::Call(_), StepBlock::Text(_)]);
        for part in turn.step.blocks.chunk_by(|one, next| !begins([one, next])) {
            session.push_message(message_of(part, false));
        }
        session.push_results(turn.step.results());
    }
}
