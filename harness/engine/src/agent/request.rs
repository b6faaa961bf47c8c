//! Makes a request body from a thread.

use super::thread::{Block, Message};
use super::{Setup, Tool};
use brickbat_scenario::wire::{self, OfferedTool};

/// The body of the request for the next reply.
pub(crate) fn body(setup: &Setup, thread: &[Message]) -> Vec<u8> {
    let Setup { dialect, delivery, thinking, model, declared, .. } = setup;
    wire::of(*dialect).request_body(model, *delivery, *thinking, declared, thread)
}

/// True if the open batch of a thread was made without thinking. Some providers require thinking before the
/// calls that are being answered, and treat the user's messages after results as part of the results.
pub(crate) fn follows_unthinking(thread: &[Message]) -> bool {
    let mut rest = thread;
    let mut has_batch = false;
    loop {
        while let [before @ .., Message::User(_)] = rest {
            rest = before;
        }
        let [before @ .., Message::Assistant(blocks), Message::Results(_)] = rest else { return has_batch };
        if matches!(blocks.first(), Some(Block::Thought(_))) {
            return false;
        }
        (rest, has_batch) = (before, true);
    }
}

/// The tools, as a request offers them.
pub(super) fn offered(tools: &[Tool]) -> Vec<OfferedTool<'_>> {
    let offered = tools.iter().map(|Tool { name, description, input_schema, .. }| OfferedTool {
        name,
        description,
        input_schema,
    });
    offered.collect()
}
