//! Makes request bodies: for the next reply, and for a request about the thread.

use super::compaction::transcript;
use super::thread::{Block, Message};
use super::{Setup, Tool};
use brickbat_scenario::wire::{self, OfferedTool};

/// The body of the request for the next reply.
pub(crate) fn body(setup: &Setup, thread: &[Message]) -> Vec<u8> {
    let Setup { dialect, delivery, thinking, model, declared, .. } = setup;
    wire::of(*dialect).request_body(model, *delivery, *thinking, declared, thread)
}

/// The request body that asks for a summary of these messages.
pub(crate) fn of_summary(setup: &Setup, thread: &[Message]) -> Vec<u8> {
    let text = format!("{SUMMARISE}\n\n{}", transcript(thread));
    body(&without_tools(setup), &[Message::User(text)])
}

/// The body of a request that asks a question about a thread.
pub(crate) fn of_question(setup: &Setup, thread: &[Message], question: &str) -> Vec<u8> {
    let text = format!("This is a conversation:\n\n{}\n{question}", transcript(thread));
    body(&without_tools(setup), &[Message::User(text)])
}

/// The same setup without tools and thinking, for requests about a thread.
pub(crate) fn without_tools(setup: &Setup) -> Setup {
    Setup { declared: String::new(), ..setup.unthinking() }
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

/// The prompt for a summary.
pub(crate) const SUMMARISE: &str = "Summarise this conversation.";
