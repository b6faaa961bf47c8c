//! From a thread to a request body.

use super::thread::Message;
use super::{Setup, Tool};
use brickbat_scenario::wire::{self, OfferedTool};

/// The body that asks for the next reply.
pub(crate) fn body(setup: &Setup, thread: &[Message]) -> Vec<u8> {
    let Setup { dialect, delivery, thinking, model, declared, .. } = setup;
    wire::of(*dialect).request_body(model, *delivery, *thinking, declared, thread)
}

/// The tools as a request offers them.
pub(super) fn offered(tools: &[Tool]) -> Vec<OfferedTool<'_>> {
    let offered = tools.iter().map(|Tool { name, description, input_schema, .. }| OfferedTool {
        name,
        description,
        input_schema,
    });
    offered.collect()
}
