//! BUG: A call to an unknown tool is kept without a result. A report of this class:
//! <https://github.com/devoxx/DevoxxGenieIDEAPlugin/issues/1194>

use super::prelude::*;

pub static FLAW: Flaw = Flaw::new("unknown-tool-dangles", "thread-survives", || Box::new(UnknownToolDangles))
    .class("unknown-tool");

struct UnknownToolDangles;

impl Decisions for UnknownToolDangles {
    fn answers_invalid(&self, problem: InvalidCall) -> bool {
        problem != InvalidCall::UnknownTool
    }
}
