//! BUG: A tool's result is left out if it is an empty text. Zed:
//! <https://github.com/zed-industries/zed/issues/37196>

use super::prelude::*;

flaw! {
    Flaw::new("empty-result-dropped", "thread-survives").class("empty-result");

    fn keeps_result(&self, outcome: &ToolOutcome, _: bool) -> bool {
        !matches!(outcome, ToolOutcome::Return(text) if text.is_empty())
    }
}
