//! BUG: A call of a tool that the agent does not know is kept without a result.
//! A report of its class: <https://github.com/devoxx/DevoxxGenieIDEAPlugin/issues/1194>

use super::prelude::*;

pub static FLAW: Flaw = Flaw::new("unknown-tool-dangles", "thread-survives", || Box::new(UnknownToolDangles))
    .class("unknown-tool");

struct UnknownToolDangles;

impl Decisions for UnknownToolDangles {
    fn answers_invalid(&self, problem: InvalidCall) -> bool {
        problem != InvalidCall::UnknownTool
    }
}
