//! BUG: A tool that throws without a message gets no result. A report of this class:
//! <https://github.com/aaif-goose/goose/issues/3249>

use super::prelude::*;

flaw! {
    Flaw::new("wordless-throw-dropped", "thread-survives").class("exec-throw");

    fn keeps_result(&self, outcome: &ToolOutcome, _: bool) -> bool {
        !matches!(outcome, ToolOutcome::Throw(text) if text.is_empty())
    }
}
