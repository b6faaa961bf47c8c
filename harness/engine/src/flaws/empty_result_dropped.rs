//! BUG: A tool's result is left out if it is an empty text. Zed:
//! <https://github.com/zed-industries/zed/issues/37196>

use super::prelude::*;

pub static FLAW: Flaw = Flaw::new("empty-result-dropped", "thread-survives", || Box::new(EmptyResultDropped))
    .class("empty-result");

struct EmptyResultDropped;

impl Decisions for EmptyResultDropped {
    fn keeps_result(&self, outcome: &ToolOutcome, _: bool) -> bool {
        !matches!(outcome, ToolOutcome::Return(text) if text.is_empty())
    }
}
