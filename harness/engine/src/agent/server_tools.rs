//! Tools that the provider runs itself.
//!
//! Their calls and results are in the provider's own replies, and a client only has to send them back as they
//! came. The provider runs an open call when the reply is sent back: immediately after a pause, or with the
//! results of the client's own calls. After any other message the provider rejects the open call, and it
//! always rejects a result without its call. So one half of a pair is dropped as soon as the other half can
//! no longer arrive.

use super::Agent;
use super::step::{Step, StepBlock};
use super::thread::{Block, Message, ServerBlock};
use brickbat_scenario::scenario::Stop;
use brickbat_scenario::wire;

impl Agent {
    /// True if the provider has paused. The reply is then sent back as the last message, and the model
    /// continues.
    pub(super) fn is_paused(&self, step: &Step) -> bool {
        let word = wire::of(self.setup.dialect).stop_word(Stop::Pause);
        let ends_with_tool = matches!(step.blocks.last(), Some(StepBlock::Server(_)));
        word.is_some() && step.stop.as_deref() == word && ends_with_tool && step.calls().next().is_none()
    }

    /// Drops the calls of the provider's tools that it will no longer run, because another message follows.
    pub(super) fn drop_open_searches(&mut self) {
        if self.decisions.drops_open_searches() {
            without_open(&mut self.session.thread);
        }
    }
}

/// Drops the calls that have no result.
pub(crate) fn without_open(thread: &mut Vec<Message>) {
    let answered: Vec<String> = blocks(thread).filter_map(answered).map(str::to_owned).collect();
    retain(thread, |block| called(block).is_none_or(|id| answered.iter().any(|other| other == id)));
}

/// Drops the results without a call.
pub(crate) fn without_orphans(thread: &mut Vec<Message>) {
    let known: Vec<String> = blocks(thread).filter_map(called).map(str::to_owned).collect();
    retain(thread, |block| answered(block).is_none_or(|id| known.iter().any(|other| other == id)));
}

fn blocks(thread: &[Message]) -> impl Iterator<Item = &ServerBlock> {
    let of_assistant = thread.iter().filter_map(|message| match message {
        Message::Assistant(blocks) => Some(blocks),
        Message::User(_) | Message::Results(_) => None,
    });
    of_assistant.flatten().filter_map(|block| match block {
        Block::Server(block) => Some(block),
        Block::Thought(_) | Block::Text(_) | Block::Call(_) => None,
    })
}

/// The id of a call.
pub(crate) fn called(block: &ServerBlock) -> Option<&str> {
    match block {
        ServerBlock::Call { id, .. } => Some(id),
        ServerBlock::Result { .. } => None,
    }
}

/// The id of the call that a result belongs to.
pub(crate) fn answered(block: &ServerBlock) -> Option<&str> {
    match block {
        ServerBlock::Call { .. } => None,
        ServerBlock::Result { call_id, .. } => Some(call_id),
    }
}

/// Keeps only these blocks of the provider's tools. Also drops messages that then consist only of thinking.
pub(crate) fn retain(thread: &mut Vec<Message>, keeps: impl Fn(&ServerBlock) -> bool) {
    thread.retain_mut(|message| {
        let Message::Assistant(blocks) = message else { return true };
        let before = blocks.len();
        blocks.retain(|block| !matches!(block, Block::Server(block) if !keeps(block)));
        before == blocks.len() || blocks.iter().any(|block| !matches!(block, Block::Thought(_)))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(id: &str) -> Block {
        let (id, tool, args) = (id.to_owned(), "web_search".to_owned(), "{}".to_owned());
        Block::Server(ServerBlock::Call { id, tool, args })
    }

    fn found(id: &str) -> Block {
        Block::Server(ServerBlock::Result { call_id: id.to_owned(), body: "{}".to_owned() })
    }

    #[test]
    fn incomplete_pairs_are_dropped_and_complete_pairs_stay() {
        let text = || Block::Text("Look.".to_owned());
        let mut thread = vec![
            Message::Assistant(vec![found("x"), text()]),
            Message::Assistant(vec![called("a")]),
            Message::Assistant(vec![found("a"), called("b")]),
            Message::Assistant(vec![called("c")]),
        ];
        without_orphans(&mut thread);
        assert_eq!(thread[0], Message::Assistant(vec![text()]));
        without_open(&mut thread);
        let whole = [
            Message::Assistant(vec![text()]),
            Message::Assistant(vec![called("a")]),
            Message::Assistant(vec![found("a")]),
        ];
        assert_eq!(thread, whole);
    }
}
