//! BUG: A tool that throws without a message gets no result. A report of this class:
//! <https://github.com/aaif-goose/goose/issues/3249>

use super::prelude::*;

pub static FLAW: Flaw =
    Flaw::new("wordless-throw-dropped", "thread-survives", || Box::new(WordlessThrowDropped))
        .class("exec-throw");

struct WordlessThrowDropped;

impl Decisions for WordlessThrowDropped {
    fn keeps_result(&self, outcome: &ToolOutcome, _: bool) -> bool {
        !matches!(outcome, ToolOutcome::Throw(text) if text.is_empty())
    }
}
