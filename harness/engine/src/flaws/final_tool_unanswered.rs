//! BUG: The tool that ends the turn gets no result. ChatGPTApp:
//! <https://github.com/scriptit-fr/ChatGPTApp/issues/34>

use super::prelude::*;

flaw! {
    Flaw::new("final-tool-unanswered", "thread-survives").class("final-tool");

    fn keeps_result_at(&self, halt: Halt, is_final_call: bool) -> bool {
        halt != Halt::FinalTool || !is_final_call
    }
}
