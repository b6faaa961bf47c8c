//! BUG: A call to an unknown tool is kept without a result. A report of this class:
//! <https://github.com/devoxx/DevoxxGenieIDEAPlugin/issues/1194>

use super::prelude::*;

flaw! {
    Flaw::new("unknown-tool-dangles", "thread-survives").class("unknown-tool");

    fn answers_invalid(&self, problem: InvalidCall) -> bool {
        problem != InvalidCall::UnknownTool
    }
}
