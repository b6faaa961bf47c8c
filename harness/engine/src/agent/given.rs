//! A given history as the store of our agent has it.

use super::Agent;
use super::store;
use super::thread::{Block, Call, CallResult, Message};
use brickbat_scenario::plan::{GivenBlock, GivenMessage, GivenResult};

impl Agent {
    /// What must stand on the disk for an agent to find that history there.
    pub fn stored(given: &[GivenMessage]) -> Vec<u8> {
        let thread: Vec<Message> = given.iter().map(message).collect();
        store::written(&thread)
    }
}

fn message(given: &GivenMessage) -> Message {
    match given {
        GivenMessage::User(text) => Message::User(text.clone()),
        GivenMessage::Assistant(blocks) => Message::Assistant(blocks.iter().map(block).collect()),
        GivenMessage::Results(results) => Message::Results(results.iter().map(result).collect()),
    }
}

fn block(given: &GivenBlock) -> Block {
    match given {
        GivenBlock::Text(text) => Block::Text(text.clone()),
        GivenBlock::Call { id, tool, args } => {
            let (id, tool, args) = (id.clone(), tool.clone(), args.to_string());
            Block::Call(Call { id, tool, args, signature: None })
        }
    }
}

fn result(given: &GivenResult) -> CallResult {
    let GivenResult { id, text, is_error } = given;
    CallResult { call_id: id.clone(), text: text.clone(), is_error: *is_error }
}
